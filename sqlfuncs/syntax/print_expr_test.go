package syntax

import (
	"slices"
	"strconv"
	"strings"
)

// expr appends an expression without parentheses around it.
func (p *printer) expr(x Expr) {
	switch x := x.(type) {
	case *Literal:
		p.literal(x)
	case *Param:
		p.param(x)
	case *Column:
		p.name(x.Name)
	case *Star:
		p.name(x.Table)
		p.putIf(x.Table != nil, ".")
		p.put("*")
	case *Variable:
		p.variable(x)
	case *Assign:
		p.userVariable(x.Name)
		p.put(" := ")
		p.expr(x.Value)
	case *FuncCall:
		p.call(x)
	case *Case:
		p.caseExpr(x)
	case *Cast:
		p.cast(x)
	case *Array:
		p.put("ARRAY[")
		p.exprs(x.Elems)
		p.put("]")
	case *Subscript:
		p.subscript(x)
	case *Field:
		p.field(x)
	case *Exists:
		p.put("EXISTS ")
		p.queryInParens(x.Query)
	case *Subquery:
		p.putIf(x.Array, "ARRAY")
		p.queryInParens(x.Query)
	case *Default:
		p.put("DEFAULT")
	case *NextValueFor:
		p.put("NEXT VALUE FOR ")
		p.name(x.Name)
	case *NextValues:
		p.nextValues(x)
	default:
		p.operation(x)
	}
}

// operation appends an operator with its operands.
func (p *printer) operation(x Expr) {
	switch x := x.(type) {
	case *Unary:
		p.unary(x)
	case *Binary:
		p.binary(x)
	case *Like:
		p.operand(x.X)
		p.putIf(x.Not, " NOT")
		p.put(" ", x.Op, " ")
		p.operand(x.Pattern)
		if x.Escape != nil {
			p.put(" ESCAPE ")
			p.operand(x.Escape)
		}
	case *Is:
		p.operand(x.X)
		p.put(" IS ", not(x.Not), x.What)
	case *IsDistinct:
		p.operand(x.L)
		p.put(" IS ", not(x.Not), "DISTINCT FROM ")
		p.operand(x.R)
	case *Between:
		p.operand(x.X)
		p.put(" ", not(x.Not), "BETWEEN ")
		p.operand(x.Low)
		p.put(" AND ")
		p.operand(x.High)
	case *In:
		p.operand(x.X)
		p.put(" ", not(x.Not), "IN ")
		p.listOrQuery(x.List, x.Query)
	case *Quantified:
		p.quantified(x)
	case *Collate:
		p.operand(x.X)
		p.put(" COLLATE ")
		p.name(x.Collation)
	}
}

func not(on bool) string {
	if on {
		return "NOT "
	}
	return ""
}

// isOperation reports whether x needs parentheses as an operand.
func isOperation(x Expr) bool {
	switch x.(type) {
	case *Unary, *Binary, *Like, *Is, *IsDistinct, *Between, *In, *Quantified, *Collate, *Assign:
		return true
	}
	return false
}

// operand appends x, in parentheses if it is an operation itself.
func (p *printer) operand(x Expr) {
	if !isOperation(x) {
		p.expr(x)
		return
	}
	p.put("(")
	p.expr(x)
	p.put(")")
}

// unary appends a prefix operator. Operators on operators get no parentheses, since
// many of them would exceed the parser's maxDepth.
func (p *printer) unary(x *Unary) {
	if !p.mysql && x.Op != "NOT" && x.Op != "+" && x.Op != "-" && pgPrecedence[x.Op] != 0 {
		p.put("OPERATOR(pg_catalog.", x.Op, ")")
	} else {
		p.put(x.Op)
	}
	_, nested := x.X.(*Unary)
	p.putIf(nested || x.Op != "-" && x.Op != "+", " ")
	if nested {
		p.expr(x.X)
		return
	}
	p.operand(x.X)
}

// binary appends an infix operator. A left operand with the same operator gets no
// parentheses if the operator associates.
func (p *printer) binary(x *Binary) {
	left, ok := x.L.(*Binary)
	if ok && left.Op == x.Op && (pgPrecedence[x.Op] != precComparison && x.Op != "<=>") {
		p.binary(left)
	} else {
		p.operand(x.L)
	}
	p.put(" ", x.Op, " ")
	p.operand(x.R)
}

func (p *printer) quantified(x *Quantified) {
	p.operand(x.X)
	p.put(" ", x.Op)
	if x.All {
		p.put(" ALL ")
	} else {
		p.put(" ANY ")
	}
	p.listOrQuery([]Expr{x.Array}, nil)
}

// listOrQuery appends (query), or (x, …) when there is none.
func (p *printer) listOrQuery(list []Expr, query *Select) {
	if query != nil {
		p.queryInParens(query)
		return
	}
	p.put("(")
	p.exprs(list)
	p.put(")")
}

func (p *printer) exprs(list []Expr) {
	for i, x := range list {
		p.putIf(i > 0, ", ")
		p.expr(x)
	}
}

func (p *printer) param(x *Param) {
	if p.mysql {
		p.put("?")
	} else {
		p.put("$")
	}
	p.out = strconv.AppendInt(p.out, int64(x.Number), 10)
}

func (p *printer) variable(x *Variable) {
	if !x.System {
		p.userVariable(x.Name)
		return
	}
	p.put("@@", x.Scope)
	p.putIf(x.Scope != "", ".")
	p.put(x.Name)
}

func (p *printer) userVariable(name string) {
	p.put("@`", strings.ReplaceAll(name, "`", "``"), "`")
}

// cast appends x::type, for MySQL CAST(x AS type).
func (p *printer) cast(x *Cast) {
	unit, isInterval := strings.CutPrefix(x.Type.Name[0], "interval ")
	switch {
	case p.mysql && isInterval:
		p.put("INTERVAL ")
		p.operand(x.X)
		p.put(" ", strings.ReplaceAll(unit, " to ", "_"))
	case p.mysql:
		p.put("CAST(")
		p.expr(x.X)
		p.put(" AS ")
		p.typeName(x.Type)
		p.put(")")
	default:
		p.operand(x.X)
		p.put("::")
		p.typeName(x.Type)
	}
}

func (p *printer) caseExpr(x *Case) {
	p.put("CASE")
	if x.Operand != nil {
		p.put(" ")
		p.expr(x.Operand)
	}
	for _, w := range x.Whens {
		p.put(" WHEN ")
		p.expr(w.Cond)
		p.put(" THEN ")
		p.expr(w.Result)
	}
	if x.Else != nil {
		p.put(" ELSE ")
		p.expr(x.Else)
	}
	p.put(" END")
}

// base appends the expression before a subscript or field.
func (p *printer) base(x Expr, dotted bool) {
	switch x := x.(type) {
	case *Subscript:
		p.subscript(x)
		return
	case *Field:
		p.field(x)
		return
	case *Column:
		if !dotted {
			p.name(x.Name)
			return
		}
	case *Param:
		p.param(x)
		return
	}
	p.put("(")
	p.expr(x)
	p.put(")")
}

func (p *printer) subscript(x *Subscript) {
	p.base(x.X, false)
	p.put("[")
	p.expr(x.Index)
	p.put("]")
}

// field appends (x).name.
func (p *printer) field(x *Field) {
	p.base(x.X, true)
	p.put(".")
	p.label(x.Name)
}

func (p *printer) nextValues(x *NextValues) {
	if x.Count == nil {
		p.put("NEXT VALUE")
		return
	}
	p.put("NEXT ")
	p.expr(x.Count)
	p.put(" VALUES")
}

// keywordFunctions lists the functions whose names are keywords. They are printed so
// if all arguments are plain expressions.
var keywordFunctions = []string{"coalesce", "greatest", "least", "nullif", "substring"}

// call appends a function call.
func (p *printer) call(x *FuncCall) {
	if x.Bare || isTimeFunction(x) || p.isKeywordCall(x) {
		p.put(x.Name[0])
	} else {
		p.name(x.Name)
	}
	if x.Bare {
		return
	}
	p.put("(")
	p.putIf(x.Star, "*")
	p.putIf(x.Distinct, "DISTINCT ")
	args, suffix := x.Args, Arg{}
	if n := len(args) - 1; p.mysql && n >= 0 && args[n].Name != "" {
		args, suffix = args[:n], args[n]
	}
	for i, a := range args {
		p.putIf(i > 0, ", ")
		if a.Name != "" {
			p.ident(a.Name)
			p.put(" => ")
		}
		p.expr(a.Value)
	}
	p.orderBy(" ORDER BY ", x.OrderBy)
	if suffix.Name != "" { // MySQL's SEPARATOR and USING
		p.put(" ", suffix.Name, " ")
		p.expr(suffix.Value)
	}
	p.put(")")
	p.aggregateClauses(x)
}

// isTimeFunction reports whether x is CURRENT_TIMESTAMP(p) or one like it.
func isTimeFunction(x *FuncCall) bool {
	if len(x.Name) != 1 || len(x.Args) != 1 {
		return false
	}
	switch x.Name[0] {
	case "current_time", "current_timestamp", "localtime", "localtimestamp":
		l, ok := x.Args[0].Value.(*Literal)
		return ok && l.Kind == IntegerLiteral
	}
	return false
}

// isKeywordCall reports whether x can be printed with its keyword as the name.
func (p *printer) isKeywordCall(x *FuncCall) bool {
	if p.mysql {
		return len(x.Args) == 2 && x.Args[1].Name == "using"
	}
	if len(x.Name) != 1 || !slices.Contains(keywordFunctions, x.Name[0]) || len(x.Args) < 1 {
		return false
	}
	if x.Distinct || x.OrderBy != nil || x.Over != nil {
		return false
	}
	for _, a := range x.Args {
		if a.Name != "" {
			return false
		}
	}
	return x.Name[0] != "nullif" || len(x.Args) == 2
}

func (p *printer) aggregateClauses(x *FuncCall) {
	if x.Over != nil {
		p.put(" OVER ")
		p.window(x.Over)
	}
}

func (p *printer) window(w *Window) {
	p.put("(")
	if w.PartitionBy != nil {
		p.put(" PARTITION BY ")
		p.exprs(w.PartitionBy)
	}
	p.orderBy(" ORDER BY ", w.OrderBy)
	p.put(")")
}

// orderBy appends intro and the list, if the list is not empty.
func (p *printer) orderBy(intro string, list []OrderItem) {
	for i, item := range list {
		if i == 0 {
			p.put(intro)
		} else {
			p.put(", ")
		}
		p.expr(item.Expr)
		p.putIf(item.Desc, " DESC")
		if item.NullsFirst != nil && *item.NullsFirst {
			p.put(" NULLS FIRST")
		} else if item.NullsFirst != nil {
			p.put(" NULLS LAST")
		}
	}
}
