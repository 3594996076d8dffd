package syntax

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a + 1", "a  +  1", true},
		{"(a) + (1)", "((a + 1))", true},
		{"a + 1", "a + 2", false},
		{"a + 1", "a + '1'", false},
		{"f(a, b)", "f(b, a)", false},
		{"f(a)", "f(DISTINCT a)", false},
		{"count(*)", "COUNT(*)", true},
		{"sum(a) OVER (ORDER BY b)", "sum(a) OVER (ORDER BY b DESC)", false},
		{"CASE WHEN a THEN b END", "CASE WHEN a THEN b ELSE c END", false},
		{"a::text", "CAST(a AS text)", true},
		{"a.b", "b", false},
		{`"a"`, "A", true},
		{"(SELECT 1)", "(SELECT 1)", true},
		{"(SELECT 1)", "(SELECT 2)", false},
		{"a IN (1, 2)", "a IN (1, 2, 3)", false},
	} {
		if got := Same(expression(t, c.a, PostgreSQL), expression(t, c.b, PostgreSQL)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
	next := func() Expr {
		return one(t, "SELECT NEXT 2 VALUES FROM orders", MySQL).(*Select).Body.(*SelectCore).Targets[0].Expr
	}
	if Same(next(), next()) {
		t.Error("two draws are the same")
	}
}
