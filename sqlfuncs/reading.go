package sqlfuncs

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/mysql"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// How a text is parsed depends on settings: which characters are quotes, whether a
// backslash escapes, where a character ends. A client that writes values into its
// texts escapes them for the settings that it assumes. If the server parsed
// differently, a value could end its own quotes (SQL injection). So each of these
// settings is obeyed and reported to the client, or refused. TestReading checks them
// all.

// ReadingMode returns the part of sql_mode that affects parsing. The status flags
// of MySQL's protocol report it.
func (s *Session) ReadingMode() syntax.Mode { return s.mysql.Reading.Mode }

// followReading copies the settings that affect parsing into fields. Call it after
// each change of a setting.
func (s *Session) followReading() {
	index := cachePostgreSQL
	if s.dialect == syntax.MySQL {
		index = s.followVariables()
		charset, _ := s.vars.Get("character_set_client")
		s.asciiOnly = slices.Contains(wideCharsets, charset)
	} else {
		encoding, _ := s.vars.Get("client_encoding")
		s.asciiOnly = slices.Contains(wideEncodings, encoding)
	}
	if s.asciiOnly {
		index = cacheNone
	}
	if index != s.cacheIndex || index == cacheNone {
		s.cacheIndex, s.Fast.cached = index, nil
	}
}

// followVariables copies MySQL's variables into fields. It returns the index of the
// cache for statements with the same meaning. SET autocommit = 1 commits an open
// transaction.
func (s *Session) followVariables() (cacheIndex int) {
	m := &s.mysql
	sqlMode, _ := s.vars.Get("sql_mode")
	collation, _ := s.vars.Get("collation_connection")
	m.Reading = mysql.Reading{Mode: modeOf(sqlMode), Exact: engine.IsBinaryCollation(collation)}
	limit, _ := s.vars.Get("sql_select_limit")
	n, err := strconv.ParseInt(limit, 10, 64)
	if m.RowsAtMost = n; err != nil { // 18446744073709551615
		m.RowsAtMost = -1
	}
	autocommit, _ := s.vars.Get("autocommit")
	was := m.Autocommit
	if m.Autocommit = autocommit == "ON"; m.Autocommit && !was && s.tx.state != txIdle {
		s.vars.EndTransaction()
		s.leaveBlock(true)
	}
	switch m.Reading {
	case mysql.Reading{}:
		return cacheMySQL
	case mysql.Reading{Exact: true}:
		return cacheExact
	case mysql.Reading{Mode: syntax.Mode{ANSIQuotes: true}}:
		return cacheANSIQuotes
	}
	return cacheNone
}

// modeOf returns the part of an sql_mode that affects parsing.
func modeOf(sqlMode string) syntax.Mode {
	var m syntax.Mode
	for name := range strings.SplitSeq(sqlMode, ",") {
		switch name {
		case "ANSI_QUOTES":
			m.ANSIQuotes = true
		case "PIPES_AS_CONCAT":
			m.PipesAsConcat = true
		case "NO_BACKSLASH_ESCAPES":
			m.NoBackslashEscapes = true
		}
	}
	return m
}

// wideCharsets and wideEncodings list multi-byte encodings other than UTF-8. In such
// an encoding, the second byte of a character may be a quote or a backslash of
// ASCII. Only ASCII texts are the same in all encodings, so other texts are refused.
var (
	wideCharsets  = []string{"big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis"}
	wideEncodings = []string{"EUC_CN", "EUC_JIS_2004", "EUC_JP", "EUC_KR", "EUC_TW", "MULE_INTERNAL"}
)

// readable returns an error for a text whose meaning depends on the client's
// encoding.
func (s *Session) readable(text string) error {
	if !s.asciiOnly || !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return nil
	}
	set, utf8Name := "client_encoding", "UTF8"
	if s.dialect == syntax.MySQL {
		set, utf8Name = "character_set_client", "utf8mb4"
	}
	name, _ := s.vars.Get(set)
	return sqlstate.New(sqlstate.CharacterNotInRepert, "nextid reads only ASCII in %s", name).
		WithHint("Connect with the character set %s, or SET NAMES '%s'.", utf8Name, utf8Name)
}

// script starts a simple query in the MySQL dialect. readScript parses its
// statements one by one.
func (s *Session) script(source string) (Batch, error) {
	if err := s.readable(source); err != nil {
		s.reading = nil
		return Batch{}, s.refused(err)
	}
	script, err := syntax.NewScript(source)
	if err != nil {
		s.reading = nil
		return Batch{}, s.refused(err)
	}
	return Batch{session: s, text: source, script: script}, nil
}

// readScript parses the next statement, in the mode that the statement before it
// has set.
func (b *Batch) readScript() (p syntax.Parsed, found bool, err error) {
	s := b.session
	s.forgetPlan()
	if p, found, err = b.script.Next(s.mysql.Reading.Mode, s.countTokens); err != nil {
		err = syntaxErrorMySQL(b.text, err)
	} else if found {
		err = s.mayHold(b.next + 1)
	}
	if err != nil {
		return p, false, s.refused(err)
	}
	return p, found, nil
}
