package sqlfuncs

import (
	"math"
	"math/bits"
	"math/rand/v2"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// mysqlNumberFunctions are MySQL's mathematical functions (manual, 12.6).
var mysqlNumberFunctions = families(
	[]engine.Function{
		{Name: "abs", Args: engine.Args(engine.AnyElement), Result: engine.AnyElement, Typed: onNumber(absMySQL)},
		{Name: "sign", Args: engine.Args(datum.Float8), Result: datum.Int4, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			switch f := a[0].Float; {
			case f > 0:
				return datum.MakeInt4(1), nil
			case f < 0:
				return datum.MakeInt4(-1), nil
			}
			return datum.MakeInt4(0), nil
		}},
		{Name: "round", Args: []engine.Argument{{Type: engine.AnyElement}, {Type: datum.Int8, Optional: true}}, Result: engine.AnyElement, Typed: roundMySQL(false)},
		{Name: "truncate", Args: engine.Args(engine.AnyElement, datum.Int8), Result: engine.AnyElement, Typed: roundMySQL(true)},
		{Name: "floor", Args: engine.Args(engine.AnyElement), Result: engine.AnyElement, Typed: wholeMySQL(math.Floor, -1)},
		{Name: "mod", Args: engine.Args(engine.AnyElement, engine.AnyElement), Result: engine.AnyElement, Typed: func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
			return arithmeticMySQL(p, "MOD", es[0], es[1])
		}},
		floatFn("sqrt", math.Sqrt), floatFn("exp", math.Exp), floatFn("sin", math.Sin), floatFn("cos", math.Cos),
		floatFn("tan", math.Tan), floatFn("asin", math.Asin), floatFn("acos", math.Acos),
		floatFn("cot", func(f float64) float64 { return 1 / math.Tan(f) }), floatFn("ln", math.Log),
		floatFn("log2", math.Log2), floatFn("log10", math.Log10),
		floatFn("degrees", func(f float64) float64 { return f * (180 / math.Pi) }), floatFn("radians", func(f float64) float64 { return f * (math.Pi / 180) }),
		{
			Name: "log", Args: []engine.Argument{{Type: datum.Float8}, {Type: datum.Float8, Optional: true}}, Result: datum.Float8,
			Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
				if len(a) == 1 {
					return finite(math.Log(a[0].Float)), nil
				}
				return finite(math.Log(a[1].Float) / math.Log(a[0].Float)), nil
			},
		},
		{Name: "atan", Args: []engine.Argument{{Type: datum.Float8}, {Type: datum.Float8, Optional: true}}, Result: datum.Float8, Eval: atanMySQL},
		{Name: "atan2", Args: engine.Args(datum.Float8, datum.Float8), Result: datum.Float8, Eval: atanMySQL},
		{Name: "pi", Result: datum.Float8, Eval: func(*engine.Exec, []datum.Value) (datum.Value, error) { return finite(math.Pi), nil }},
		{
			Name: "rand", Args: []engine.Argument{{Type: datum.Int8, Optional: true}}, Result: datum.Float8, Volatile: engine.Volatile, Nullable: true,
			Eval: func(x *engine.Exec, a []datum.Value) (datum.Value, error) {
				if len(a) > 0 {
					return finite(rand.New(rand.NewPCG(uint64(a[0].Int), 0)).Float64()), nil
				}
				return finite(sessionOf(x).random.float()), nil
			},
		},
		{Name: "bit_count", Args: engine.Args(datum.Int8), Result: datum.Int8, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
			return datum.MakeInt8(int64(bits.OnesCount64(uint64(a[0].Int)))), nil
		}},
	},
	alias(engine.Function{Name: "ceiling", Args: engine.Args(engine.AnyElement), Result: engine.AnyElement, Typed: wholeMySQL(math.Ceil, 1)}, "ceil"),
	alias(engine.Function{Name: "pow", Args: engine.Args(datum.Float8, datum.Float8), Result: datum.Float8, Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
		f := math.Pow(a[0].Float, a[1].Float)
		if math.IsInf(f, 0) {
			return a[0], outOfRangeDouble("pow")
		}
		return finite(f), nil
	}}, "power"),
)

func outOfRangeDouble(what string) error {
	return mysqlOutOfRange("DOUBLE", what)
}

// finite is a double, NULL where there is no number.
func finite(f float64) datum.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return datum.Null(datum.Float8)
	}
	return datum.Value{Type: datum.Float8, Valid: true, Float: f}
}

func floatFn(name string, f func(float64) float64) engine.Function {
	return engine.Function{
		Name: name, Args: engine.Args(datum.Float8), Result: datum.Float8,
		Eval: func(_ *engine.Exec, a []datum.Value) (datum.Value, error) { return finite(f(a[0].Float)), nil },
	}
}

func atanMySQL(_ *engine.Exec, a []datum.Value) (datum.Value, error) {
	if len(a) == 1 {
		return finite(math.Atan(a[0].Float)), nil
	}
	return finite(math.Atan2(a[0].Float, a[1].Float)), nil
}

// onNumber makes a function of one number that keeps the number's kind.
func onNumber(f func(v datum.Value) (datum.Value, error)) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		t := kindTypes[kindOf(es[0].Type)]
		e, err := p.Coerce(es[0], t, datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
			v, err := e.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			return f(v)
		}, e), nil
	}
}

func absMySQL(v datum.Value) (datum.Value, error) {
	zero := datum.Value{Type: v.Type, Valid: true, Str: "0"}
	if c, err := datum.Compare(v, zero); err != nil || c >= 0 {
		return v, err
	}
	n, err := datum.Neg(v)
	if err != nil {
		err = mysqlOutOfRange("BIGINT", "abs")
	}
	return n, err
}

// roundMySQL is ROUND and TRUNCATE. Decimals and integers round half away
// from zero, doubles half to even.
func roundMySQL(cutOff bool) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		k := kindOf(es[0].Type)
		t := kindTypes[k]
		digits := engine.Constant(datum.MakeInt8(0))
		e, err := p.Coerce(es[0], t, datum.ImplicitCast)
		if err == nil && len(es) > 1 {
			digits, err = p.Coerce(es[1], datum.Int8, datum.ImplicitCast)
		}
		if err != nil {
			return nil, err
		}
		return engine.Strict2(t, e, digits, func(x *engine.Exec, v, d datum.Value) (datum.Value, error) {
			n := int(max(min(d.Int, maxScale), -maxScale))
			if k == kindDouble {
				return roundDouble(v.Float, n, cutOff), nil
			}
			out := roundDecimal(mysqlDecimal(x, v), n, cutOff)
			if k == kindDecimal {
				return out, nil
			}
			i, err := decimalInt(out.Str)
			return datum.MakeInt8(i), err
		}), nil
	}
}

func roundDouble(f float64, digits int, cutOff bool) datum.Value {
	unit := math.Pow(10, float64(digits))
	g := f * unit
	if math.IsInf(g, 0) || unit == 0 {
		return finite(f)
	}
	if cutOff {
		g = math.Trunc(g)
	} else {
		g = math.RoundToEven(g)
	}
	return finite(g / unit)
}

// wholeMySQL is FLOOR and CEILING: integers of integers and decimals.
func wholeMySQL(round func(float64) float64, away int64) func(*engine.Planner, []*engine.Expr) (*engine.Expr, error) {
	return func(p *engine.Planner, es []*engine.Expr) (*engine.Expr, error) {
		k := kindOf(es[0].Type)
		e, err := p.Coerce(es[0], kindTypes[k], datum.ImplicitCast)
		if err != nil {
			return nil, err
		}
		t := datum.Int8
		if k == kindDouble {
			t = datum.Float8
		}
		return engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
			v, err := e.Eval(x)
			if err != nil || !v.Valid {
				return datum.Null(t), err
			}
			switch k {
			case kindInt:
				return v, nil
			case kindDouble:
				return finite(round(v.Float)), nil
			}
			n, err := decimalInt(roundDecimal(v.Str, 0, true).Str)
			if cut := datum.MakeString(datum.Numeric, itoa64(n)); err == nil {
				c, _ := datum.Compare(v, cut)
				if int64(c) == away {
					n += away
				}
			}
			return datum.MakeInt8(n), err
		}, e), nil
	}
}
