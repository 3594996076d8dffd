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

// How a text is read depends on settings: which marks are quotes, whether a
// backslash escapes, where a character ends. A client that puts values into
// its texts escapes them by what it believes these settings to be, so that a
// server which reads them otherwise lets a value end its own quotes. Each of
// them is therefore obeyed and reported to the client, or refused when it is
// set; TestReading goes through them.

// ReadingMode is the part of sql_mode by which the session's texts are read,
// which every answer of MySQL's protocol tells its client.
func (s *Session) ReadingMode() syntax.Mode { return s.mysql.Reading.Mode }

// followReading notes what the settings say of how texts are read. It follows
// every change of a setting.
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

// followVariables notes what MySQL's variables say that the session keeps
// elsewhere. It returns the cache of statements that mean the same here.
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

// modeOf returns the part of an sql_mode by which texts are read.
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

// wideCharsets and wideEncodings are those, other than UTF-8, in which a
// character may have several bytes. Such a client takes bytes for one
// character that are two here, and the second a quote or a backslash. Texts
// without such bytes read the same everywhere: no others are taken.
var (
	wideCharsets  = []string{"big5", "cp932", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "sjis", "ujis"}
	wideEncodings = []string{"EUC_CN", "EUC_JIS_2004", "EUC_JP", "EUC_KR", "EUC_TW", "MULE_INTERNAL"}
)

// readable refuses a text that the session's client means in another encoding.
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

// script begins a simple query in the MySQL dialect.
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

// readScript reads the next statement in the mode that the one before it left.
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
