package syntax

import "nextid/sqlfuncs/sqlstate"

// Script is a text in MySQL's dialect of which one statement is read at a
// time, since each may set the mode that the next one is read in. The zero
// Script has no statement.
type Script struct {
	text      string
	at        int  // where the next statement begins, len(text) behind the last
	inVersion bool // in a comment /*! … */ there
}

// NewScript returns the statements of a text; 22021 where it is not UTF-8.
func NewScript(text string) (Script, error) {
	if err := sqlstate.BrokenText(text); err != nil {
		return Script{}, err
	}
	return Script{text: text}, nil
}

// More reports whether Next may find another statement.
func (s *Script) More() bool { return s.at < len(s.text) }

// Next reads the next statement; found is false behind the last one. An
// error, as of Parse, ends the script. count may be nil.
func (s *Script) Next(m Mode, count Count) (next Parsed, found bool, err error) {
	p := parser{lex: lexer{src: s.text, dialect: MySQL, mode: m, pos: s.at, rested: s.at, inVersion: s.inVersion}, mysql: true, count: count}
	p.setToken(p.lex.next())
	p.skipSemicolons()
	if found = p.tok.kind != tokEOF; found {
		next = p.parsed()
		p.told(p.tokens % yieldEvery)
	}
	s.at = len(s.text)
	if p.err != nil {
		return Parsed{}, false, p.err
	}
	end := p.tok.end // of the semicolon: what cannot be read behind it is the next one's error
	if p.skipSemicolons(); p.err != nil {
		s.at = end
	} else if p.tok.kind != tokEOF {
		s.at = p.tok.start
	}
	s.inVersion = p.lex.inVersion
	return next, found, nil
}
