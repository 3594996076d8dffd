package syntax

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
		p.notSupported(p.pos(), "window frames (ROWS, RANGE, GROUPS) are")
	}
	p.expectPunct(")")
	return w
}

func (p *parser) atFrame() bool {
	next := p.peek(1)
	return p.isAnyWord("rows", "range", "groups") && next.kind != tokPunct && !next.isWord("partition") && !next.isWord("order")
}
