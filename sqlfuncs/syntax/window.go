package syntax

// window reads the definition after OVER.
func (p *parser) window() *Window {
	w := &Window{Pos: p.pos()}
	if !p.acceptPunct("(") {
		p.notSupported(p.pos(), "OVER with the name of a window is")
		return w
	}
	defer p.leave(p.enter())
	if p.tok.isName() && !p.isWords("partition", "by") && !p.atFrame() {
		p.notSupported(p.pos(), "OVER with the name of a window is")
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

// atFrame reports whether a frame clause follows.
func (p *parser) atFrame() bool {
	next := p.peek(1)
	return p.isAnyWord("rows", "range", "groups") && next.kind != tokPunct && !next.isWord("partition") && !next.isWord("order")
}
