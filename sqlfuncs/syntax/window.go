package syntax

import "nextid/sqlfuncs/sqlstate"

// The bounds of a frame.
const (
	UnboundedPreceding FrameBoundKind = iota
	OffsetPreceding
	CurrentRow
	OffsetFollowing
	UnboundedFollowing
)

// namedWindows reads the list behind WINDOW.
func (p *parser) namedWindows() []NamedWindow {
	var list []NamedWindow
	for {
		w := NamedWindow{Name: p.name()}
		p.expect("as")
		if !p.isPunct("(") {
			p.syntaxError()
			return list
		}
		w.Window = p.window()
		list = append(list, w)
		if !p.acceptPunct(",") {
			return list
		}
	}
}

// window reads the name or definition behind OVER.
func (p *parser) window() *Window {
	w := &Window{Pos: p.pos()}
	if !p.acceptPunct("(") {
		w.Name, w.Bare = p.name(), true
		return w
	}
	defer p.leave(p.enter())
	if p.tok.isName() && !p.isWords("partition", "by") && !p.atFrame() {
		w.Name = p.name()
	}
	if p.acceptWords("partition", "by") {
		w.PartitionBy = p.exprList()
	}
	w.OrderBy = p.orderBy()
	if p.atFrame() {
		w.Frame = p.frame()
	}
	p.expectPunct(")")
	return w
}

func (p *parser) atFrame() bool {
	next := p.peek(1)
	return p.isAnyWord("rows", "range", "groups") && next.kind != tokPunct && !next.isWord("partition") && !next.isWord("order")
}

// frame reads ROWS, RANGE or GROUPS with its bounds.
func (p *parser) frame() *Frame {
	f := &Frame{End: FrameBound{Kind: CurrentRow}}
	f.Mode = map[string]string{"rows": "ROWS", "range": "RANGE", "groups": "GROUPS"}[p.acceptAny("rows", "range", "groups")]
	if p.accept("between") {
		f.Start = p.frameBound()
		p.expect("and")
		f.End = p.frameBound()
	} else {
		f.Start = p.frameBound()
	}
	p.checkFrame(f)
	if p.accept("exclude") {
		switch {
		case p.acceptWords("current", "row"):
			f.Exclude = "CURRENT ROW"
		case p.accept("group"):
			f.Exclude = "GROUP"
		case p.accept("ties"):
			f.Exclude = "TIES"
		default:
			p.expect("no", "others")
		}
	}
	return f
}

func (p *parser) frameBound() FrameBound {
	b := FrameBound{Pos: p.pos(), Kind: OffsetPreceding}
	switch {
	case p.acceptWords("unbounded", "preceding"):
		b.Kind = UnboundedPreceding
		return b
	case p.acceptWords("unbounded", "following"):
		b.Kind = UnboundedFollowing
		return b
	case p.acceptWords("current", "row"):
		b.Kind = CurrentRow
		return b
	}
	b.Offset = p.expr()
	if p.accept("following") {
		b.Kind = OffsetFollowing
	} else {
		p.expect("preceding")
	}
	return b
}

// checkFrame refuses bounds that no row could lie between.
func (p *parser) checkFrame(f *Frame) {
	fail := func(message string) { p.failAt(f.End.Pos, sqlstate.WindowingError, "%s", message) }
	switch {
	case f.Start.Kind == UnboundedFollowing:
		p.failAt(f.Start.Pos, sqlstate.WindowingError, "frame start cannot be UNBOUNDED FOLLOWING")
	case f.End.Kind == UnboundedPreceding:
		fail("frame end cannot be UNBOUNDED PRECEDING")
	case f.Start.Kind == CurrentRow && f.End.Kind == OffsetPreceding:
		fail("frame starting from current row cannot have preceding rows")
	case f.Start.Kind == OffsetFollowing && f.End.Kind == CurrentRow:
		fail("frame starting from following row cannot end with current row")
	case f.Start.Kind == OffsetFollowing && f.End.Kind == OffsetPreceding:
		fail("frame starting from following row cannot have preceding rows")
	}
}
