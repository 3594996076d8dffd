package syntax

import "strings"

// Append appends the statement in the syntax of the dialect that it was parsed in.
// Parsing it gives an equal tree, except positions and source texts.
func Append(dst []byte, s Statement, d Dialect) []byte {
	p := printer{out: dst, dialect: d, mysql: d == MySQL}
	p.statement(s)
	return p.out
}

func (p *printer) statement(s Statement) {
	switch s := s.(type) {
	case *Select:
		p.query(s)
	case *Set:
		p.set(s)
	case *ResetAll:
		p.put("RESET ALL")
	case *Show:
		p.put("SHOW ")
		p.setting(s.Name)
	case *Transaction:
		p.transaction(s)
	case *Prepare:
		p.prepare(s)
	case *Execute:
		p.execute(s)
	case *Deallocate:
		p.put("DEALLOCATE PREPARE ")
		p.nameOrAll(s.Name)
	case *Discard:
		p.put("DISCARD ", s.What)
	case *Declare:
		p.declare(s)
	case *Fetch:
		p.fetch(s)
	case *CloseCursor:
		p.put("CLOSE ")
		p.nameOrAll(s.Name)
	case *Copy:
		p.copy(s)
	case *Explain:
		p.explain(s)
	case *Lock:
		p.put(s.Tag)
	case *Unsupported:
		p.unsupported(s.What)
	default:
		p.otherStatement(s)
	}
}

// unsupported appends a statement that is refused under the same name.
func (p *printer) unsupported(what string) {
	switch {
	case what == "COPY FROM":
		p.put("COPY t FROM STDIN")
	case what == "PREPARE TRANSACTION":
		p.put(what, " 'x'")
	case what == "COPY TO PROGRAM", what == "COPY TO a file":
		p.put("COPY t", strings.TrimSuffix(what[4:], "a file"), " ''")
	case strings.HasPrefix(what, "COPY with FORMAT "):
		p.put("COPY t TO STDOUT (FORMAT ")
		p.str(what[17:])
		p.put(")")
	case strings.HasPrefix(what, "COPY with "):
		p.put("COPY t TO STDOUT (", QuoteIdent(what[10:]), ")")
	case strings.HasPrefix(what, "FETCH "), strings.HasPrefix(what, "MOVE "):
		p.put(what, " 1 FROM c")
	case strings.HasPrefix(what, "EXPLAIN FORMAT="):
		p.put("EXPLAIN FORMAT = ")
		p.str(what[15:])
		p.put(" SELECT 1")
	default:
		p.put(what)
	}
}

// otherStatement appends statements on sequences and those that only MySQL has.
func (p *printer) otherStatement(s Statement) {
	switch s := s.(type) {
	case *CreateSequence:
		p.put("CREATE SEQUENCE ")
		p.putIf(s.IfNotExists, "IF NOT EXISTS ")
		p.name(s.Name)
		p.sequenceOptions(&s.Options)
	case *AlterSequence:
		p.put("ALTER SEQUENCE ")
		p.putIf(s.IfExists, "IF EXISTS ")
		p.name(s.Name)
		p.sequenceOptions(&s.Options)
	case *DropSequence:
		p.put("DROP SEQUENCE ")
		p.putIf(s.IfExists, "IF EXISTS ")
		for i, n := range s.Names {
			p.putIf(i > 0, ", ")
			p.name(n)
		}
	case *SequenceNote:
		p.sequenceNote(s)
	case *Use:
		p.put("USE ")
		p.ident(s.Database)
	case *Call:
		p.put("DO ")
		p.exprs(s.Exprs)
	case *Kill:
		p.put(map[bool]string{false: "KILL CONNECTION ", true: "KILL QUERY "}[s.Query])
		p.expr(s.ID)
	case *SetStatement:
		p.put("SET STATEMENT ")
		p.assignments(s.Items)
		p.put(" FOR ")
		p.statement(s.Statement)
	case *ShowMySQL:
		p.showMySQL(s)
	}
}

func (p *printer) nameOrAll(name string) {
	if name == "" {
		p.put("ALL")
		return
	}
	p.ident(name)
}

// setting appends the name of a setting, part by part where it has dots.
func (p *printer) setting(name string) {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") {
		p.ident(name)
		return
	}
	for i, part := range strings.Split(name, ".") {
		p.putIf(i > 0, ".")
		p.ident(part)
	}
}

func (p *printer) set(s *Set) {
	if s.Tag == "RESET" {
		p.put("RESET ")
		p.setting(s.Items[0].Name)
		return
	}
	p.put("SET ")
	if p.mysql {
		p.assignments(s.Items)
		return
	}
	first := s.Items[0]
	p.putIf(first.Local, "LOCAL ")
	if len(s.Items) > 1 {
		if strings.HasPrefix(first.Name, "default_") {
			p.put("SESSION CHARACTERISTICS AS ")
		}
		p.put("TRANSACTION ")
		p.modes(s.Items)
		return
	}
	p.setting(first.Name)
	p.put(" TO ")
	p.settingValues(first)
}

func (p *printer) settingValues(item SetItem) {
	if item.Default {
		p.put("DEFAULT")
		return
	}
	p.exprs(item.Values)
}

// assignments appends the items of MySQL's SET.
func (p *printer) assignments(items []SetItem) {
	for i := 0; i < len(items); i++ {
		item := items[i]
		p.putIf(i > 0, ", ")
		if item.Local { // of the next transaction
			end := i
			for end < len(items) && items[end].Local {
				end++
			}
			p.put("TRANSACTION ")
			p.modes(items[i:end])
			i = end - 1
			continue
		}
		p.putIf(item.Global, "GLOBAL ")
		if name, ok := strings.CutPrefix(item.Name, "@"); ok {
			p.userVariable(name)
		} else {
			p.setting(item.Name)
		}
		p.put(" = ")
		p.settingValues(item)
	}
}

// modes appends transaction modes.
func (p *printer) modes(items []SetItem) {
	for i, item := range items {
		p.putIf(i > 0, ", ")
		value := item.Values[0].(*Literal).Text
		switch name := strings.TrimPrefix(item.Name, "default_"); name {
		case "transaction_isolation":
			p.put("ISOLATION LEVEL ", upperCase(value))
		case "transaction_read_only":
			p.put(map[string]string{"on": "READ ONLY", "off": "READ WRITE"}[value])
		case "transaction_deferrable":
			p.putIf(value == "off", "NOT ")
			p.put("DEFERRABLE")
		}
	}
}

var transactionWords = [...]string{
	Begin: "BEGIN", StartTransaction: "START TRANSACTION", Commit: "COMMIT", Rollback: "ROLLBACK",
	Savepoint: "SAVEPOINT ", ReleaseSavepoint: "RELEASE SAVEPOINT ", RollbackToSavepoint: "ROLLBACK TO SAVEPOINT ",
}

func (p *printer) transaction(t *Transaction) {
	p.put(transactionWords[t.Kind])
	if t.Savepoint != "" {
		p.ident(t.Savepoint)
	}
	p.putIf(t.Modes != nil, " ")
	p.modes(t.Modes)
}

func (p *printer) prepare(s *Prepare) {
	p.put("PREPARE ")
	p.ident(s.Name)
	if p.mysql {
		p.put(" FROM ")
		p.str(s.Text)
		return
	}
	for i, t := range s.Types {
		if i == 0 {
			p.put(" (")
		} else {
			p.put(", ")
		}
		p.typeName(t)
	}
	p.putIf(s.Types != nil, ")")
	p.put(" AS ")
	p.statement(s.Statement)
}

func (p *printer) execute(s *Execute) {
	p.put("EXECUTE ")
	p.ident(s.Name)
	switch {
	case s.Args == nil:
	case p.mysql:
		p.put(" USING ")
		p.exprs(s.Args)
	default:
		p.put(" (")
		p.exprs(s.Args)
		p.put(")")
	}
}

func (p *printer) declare(s *Declare) {
	p.put("DECLARE ")
	p.ident(s.Name)
	p.putIf(s.Scroll, " SCROLL")
	p.put(" CURSOR ")
	p.putIf(s.Hold, "WITH HOLD ")
	p.put("FOR ")
	p.query(s.Query)
}

func (p *printer) fetch(s *Fetch) {
	if s.Move {
		p.put("MOVE FORWARD ")
	} else {
		p.put("FETCH FORWARD ")
	}
	if s.Count == FetchAll {
		p.put("ALL")
	} else {
		p.int(s.Count)
	}
	p.put(" FROM ")
	p.ident(s.Cursor)
}

func (p *printer) copy(s *Copy) {
	p.put("COPY ")
	p.queryInParens(s.Query)
	p.put(" TO STDOUT (FORMAT ")
	p.putIf(s.CSV, "csv")
	p.putIf(!s.CSV, "text")
	p.putIf(s.Header, ", HEADER")
	p.put(")")
}

func (p *printer) copyString(intro string, given bool, value string) {
	if given {
		p.put(intro)
		p.str(value)
	}
}

func (p *printer) explain(s *Explain) {
	p.put("EXPLAIN ")
	p.putIf(s.Analyze, "ANALYZE ")
	p.statement(s.Statement)
}

func (p *printer) showMySQL(s *ShowMySQL) {
	p.put("SHOW ", s.What)
	if s.From != nil {
		p.putIf(!strings.HasPrefix(s.What, "CREATE "), " FROM")
		p.put(" ")
		p.name(s.From)
	}
	if s.In != "" {
		p.put(" FROM ")
		p.ident(s.In)
	}
	if s.User != "" {
		p.put(" FOR ")
		p.ident(s.User)
	}
	p.copyString(" LIKE ", s.Like != "", s.Like)
	p.clause(" WHERE ", s.Where)
}

func (p *printer) sequenceOptions(o *SequenceOptions) {
	if o.As != nil {
		p.put(" AS ")
		p.typeName(*o.As)
	}
	p.sequenceNumber(" START ", o.Start)
	p.sequenceNumber(" INCREMENT ", o.Increment)
	p.sequenceNumber(" MINVALUE ", o.MinValue)
	p.sequenceNumber(" MAXVALUE ", o.MaxValue)
	p.sequenceNumber(" CACHE ", o.Cache)
	p.putIf(o.NoMinValue, " NO MINVALUE")
	p.putIf(o.NoMaxValue, " NO MAXVALUE")
	if o.Cycle != nil {
		p.putIf(!*o.Cycle, " NO")
		p.put(" CYCLE")
	}
	p.putIf(o.Restart, " RESTART")
	p.sequenceNumber(" ", o.RestartWith)
	p.putIf(o.OwnedBy, " OWNED BY NONE")
}

func (p *printer) sequenceNumber(intro string, n *int64) {
	if n != nil {
		p.put(intro)
		p.int(*n)
	}
}

func (p *printer) sequenceNote(s *SequenceNote) {
	p.put(map[string]string{"COMMENT": "COMMENT ON SEQUENCE ", "GRANT": "GRANT ALL ON ", "REVOKE": "REVOKE ALL ON "}[s.Tag])
	switch {
	case s.What == "owners":
		p.put(s.Tag + " ")
		p.putIf(s.IfExists, "IF EXISTS ")
	case s.What == "grants" && s.Names == nil:
		p.put("ALL SEQUENCES IN SCHEMA public")
	case s.What == "grants":
		p.put("SEQUENCE ")
	}
	for i, n := range s.Names {
		p.putIf(i > 0, ", ")
		p.name(n)
	}
	p.put(map[string]string{"COMMENT": " IS NULL", "GRANT": " TO public", "REVOKE": " FROM public"}[s.Tag])
	p.putIf(s.What == "owners", " OWNER TO public")
}
