package syntax

import "nextid/sqlfuncs/sqlstate"

// Script parses a text in MySQL's dialect, one statement at a time: a statement may
// set the mode in which the next one is parsed. The zero Script has no statement.
type Script struct {
	text      string
	at        int  // start of the next statement, len(text) after the last
	inVersion bool // at is in a comment /*! … */
}

// NewScript returns a Script for a text. A text that is not UTF-8 is an error
// (22021).
func NewScript(text string) (Script, error) {
	if err := sqlstate.BrokenText(text); err != nil {
		return Script{}, err
	}
	return Script{text: text}, nil
}

// More reports whether Next may find another statement.
func (s *Script) More() bool { return s.at < len(s.text) }

// Next reads the next statement. found is false after the last one. An error, see
// Parse, ends the script. count may be nil.
func (s *Script) Next(m Mode, count Count) (next Parsed, found bool, err error) {
	p := parser{lex: lexer{src: s.text, dialect: MySQL, mode: m, pos: s.at, yielded: s.at, inVersion: s.inVersion}, mysql: true, count: count}
	p.setToken(p.lex.next())
	p.skipSemicolons()
	if found = p.tok.kind != tokEOF; found {
		next = p.parsed()
		p.report(p.tokens % yieldEvery)
	}
	s.at = len(s.text)
	if p.err != nil {
		return Parsed{}, false, p.err
	}
	end := p.tok.end // of the semicolon; an error after it belongs to the next statement
	if p.skipSemicolons(); p.err != nil {
		s.at = end
	} else if p.tok.kind != tokEOF {
		s.at = p.tok.start
	}
	s.inVersion = p.lex.inVersion
	return next, found, nil
}
