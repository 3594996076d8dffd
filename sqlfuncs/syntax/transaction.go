package syntax

import "strings"

// transaction reads the statements of transaction control.
func (p *parser) transaction() Statement {
	t := &Transaction{}
	word := p.tok.text
	p.advance()
	switch word {
	case "begin":
		t.Kind = Begin
		p.acceptAny("work", "transaction")
		t.Modes = p.optionalModes()
	case "start":
		t.Kind = StartTransaction
		p.expect("transaction")
		if p.mysql && p.acceptWords("with", "consistent", "snapshot") && !p.acceptPunct(",") {
			break
		}
		t.Modes = p.optionalModes()
	case "commit", "end":
		t.Kind = Commit
		if word == "commit" && p.isWord("prepared") {
			return p.refusal("COMMIT PREPARED")
		}
		p.acceptAny("work", "transaction")
		p.noChain()
	case "rollback", "abort":
		if word == "rollback" && p.isWord("prepared") {
			return p.refusal("ROLLBACK PREPARED")
		}
		p.rollback(t, word)
	case "savepoint":
		t.Kind, t.Savepoint = Savepoint, p.name()
	case "release":
		t.Kind = ReleaseSavepoint
		p.acceptSavepoint()
		t.Savepoint = p.name()
	}
	return t
}

// acceptSavepoint skips the optional word SAVEPOINT, unless it is the name.
func (p *parser) acceptSavepoint() {
	if p.isWord("savepoint") && p.peek(1).isName() {
		p.advance()
	}
}

// rollback reads ROLLBACK and ABORT.
func (p *parser) rollback(t *Transaction, word string) {
	t.Kind = Rollback
	p.acceptAny("work", "transaction")
	if word == "rollback" && p.accept("to") {
		t.Kind = RollbackToSavepoint
		p.acceptSavepoint()
		t.Savepoint = p.name()
		return
	}
	p.noChain()
}

// noChain reads AND NO CHAIN, and MySQL's NO RELEASE. They are the default.
func (p *parser) noChain() {
	p.acceptWords("and", "no", "chain")
	if p.mysql {
		p.acceptWords("no", "release")
	}
}

// optionalModes reads transaction modes if there are any.
func (p *parser) optionalModes() []SetItem {
	if !p.isAnyWord("isolation", "read", "deferrable", "not") {
		return nil
	}
	return p.modes("transaction_")
}

// modes reads transaction modes, with or without commas. It returns them as settings
// whose names begin with prefix.
func (p *parser) modes(prefix string) []SetItem {
	var list []SetItem
	for {
		item := SetItem{Pos: p.pos()}
		var value string
		switch {
		case p.accept("isolation"):
			p.expect("level")
			item.Name, value = "isolation", p.isolationLevel()
		case p.accept("read"):
			item.Name, value = "read_only", onOff(p.isWord("only"))
			if p.acceptAny("only", "write") == "" {
				p.syntaxError()
			}
		case p.accept("deferrable"):
			item.Name, value = "deferrable", "on"
		default:
			p.expect("not", "deferrable")
			item.Name, value = "deferrable", "off"
		}
		item.Name = prefix + item.Name
		item.Values = []Expr{&Literal{Pos: item.Pos, Kind: StringLiteral, Text: value}}
		list = append(list, item)
		if !p.acceptPunct(",") && !p.isAnyWord("isolation", "read", "deferrable", "not") {
			return list
		}
	}
}

// isolationLevel reads the name of a level.
func (p *parser) isolationLevel() string {
	for _, level := range []string{"read uncommitted", "read committed", "repeatable read", "serializable"} {
		if p.acceptWords(strings.Fields(level)...) {
			return level
		}
	}
	p.acceptAny("read", "repeatable") // the error is at the word after it
	p.syntaxError()
	return ""
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
