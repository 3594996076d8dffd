package mysql

import (
	"math"
	"strconv"
	"strings"
	"time"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// variable plans @@name and @name.
func variable(p *engine.Planner, e *syntax.Variable) (*engine.Expr, error) {
	if !e.System {
		return userVariable(p, e.Name), nil
	}
	def, err := setting.LookupMySQL(e.Name)
	if err != nil {
		return nil, engine.At(e.Pos, err)
	}
	if e.Scope == "session" && def.Context == "global" {
		return nil, engine.At(e.Pos, sqlstate.New(sqlstate.InvalidParameterValue, "Variable '%s' is a GLOBAL variable", def.Name).WithMySQL(1238, "HY000"))
	}
	t := def.ColumnType()
	global := e.Scope == "global"
	x := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		text := systemVariable(x, def)
		if global {
			text, _ = x.Host.Settings().Begins(def.Name)
		}
		switch {
		case t == datum.Text && text == "" && nullVariables[def.Name]:
			return datum.Null(t), nil
		case def.Type == "bool":
			return datum.MakeInt8(map[string]int64{"ON": 1, "YES": 1}[text]), nil
		case t == datum.Int8:
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil { // 18446744073709551615: no limit
				n = 1<<63 - 1
			}
			return datum.MakeInt8(n), nil
		case t == datum.Float8:
			f, _ := strconv.ParseFloat(text, 64)
			return datum.Value{Type: t, Valid: true, Float: f}, nil
		}
		return datum.MakeText(text), nil
	})
	return p.MarkVolatile(x), nil
}

// nullVariables lists the variables that are NULL if they have no value.
var nullVariables = map[string]bool{"character_set_results": true, "secure_file_priv": true, "external_user": true, "proxy_user": true}

// userVariable plans @name. Its type is that of its present value, so the plan is
// Private.
func userVariable(p *engine.Planner, name string) *engine.Expr {
	p.Private = true
	now, ok := plannedState(p).Users[name]
	t := datum.Text
	if ok {
		t = now.Type
	}
	x := engine.Derive(t, func(x *engine.Exec) (datum.Value, error) {
		v, ok := stateOf(x).Users[name]
		if !ok {
			return datum.Null(t), nil
		}
		return cast(x, v, t)
	})
	return p.MarkVolatile(x)
}

// assignVariable plans @a := value.
func assignVariable(p *engine.Planner, s *engine.Scope, e *syntax.Assign) (*engine.Expr, error) {
	value, err := p.Expr(s, e.Value)
	if err == nil {
		value, err = p.ResolveUnknown(value)
	}
	if err != nil {
		return nil, err
	}
	p.Private = true
	name := e.Name
	x := engine.Derive(value.Type, func(x *engine.Exec) (datum.Value, error) {
		v, err := value.Eval(x)
		if err == nil {
			err = stateOf(x).SetUserVariable(name, v)
		}
		return v, err
	}, value)
	return p.MarkVolatile(x), nil
}

// Assignment is one planned item of SET.
type Assignment struct {
	Def   *setting.Definition // nil: a user variable
	name  string
	value *engine.Expr // nil: DEFAULT
}

// Assignments plans the items of a SET.
func Assignments(p *engine.Planner, items []syntax.SetItem) ([]Assignment, error) {
	var plan []Assignment
	for i := range items {
		item := &items[i]
		if item.Local { // SET TRANSACTION, which has no effect here
			continue
		}
		a := Assignment{name: item.Name}
		if name, user := strings.CutPrefix(item.Name, "@"); user {
			a.name = name
		} else if item.Name != "client_encoding" {
			def, err := setting.LookupMySQL(item.Name)
			if err != nil {
				return nil, engine.At(item.Pos, err)
			}
			if a.Def, err = def, settable(def, item.Global); err != nil {
				return nil, engine.At(item.Pos, err)
			}
		}
		if !item.Default {
			if len(item.Values) != 1 {
				return nil, engine.At(item.Pos, sqlstate.New(sqlstate.SyntaxError, "SET takes one value"))
			}
			value, err := p.Expr(nil, item.Values[0])
			if err == nil {
				value, err = p.ResolveUnknown(value)
			}
			if err != nil {
				return nil, engine.At(item.Pos, err)
			}
			a.value = value
		}
		plan = append(plan, a)
	}
	return plan, nil
}

// settable returns an error for a variable that a session cannot set.
func settable(def *setting.Definition, global bool) error {
	switch {
	case def.Context == "internal":
		return sqlstate.New(sqlstate.CannotChangeNow, "Variable '%s' is a read only variable", def.Name).WithMySQL(1238, "HY000")
	case global:
		return sqlstate.New(sqlstate.InsufficientPrivilege, "Access denied; nextid has no global variables that SQL can set").
			WithHint("Change the configuration of the server.").WithMySQL(1227, "42000")
	case def.Context == "global":
		return sqlstate.New(sqlstate.CannotChangeNow, "Variable '%s' is a GLOBAL variable and should be set with SET GLOBAL", def.Name).WithMySQL(1229, "HY000")
	}
	return nil
}

// AssignAll runs SET. It computes and checks all values before it sets the first
// one.
func AssignAll(x *engine.Exec, plan []Assignment) (err error) {
	values, texts := make([]datum.Value, len(plan)), make([]string, len(plan))
	for i, a := range plan {
		if a.value == nil {
			continue
		}
		if values[i], err = a.value.Eval(x); err == nil && a.Def != nil {
			texts[i], err = normalize(x, a.Def, values[i])
		}
		if err == nil && a.name == "collation_connection" && i > 0 && plan[i-1].name == "client_encoding" { // SET NAMES
			if set := charsetNamed(TextOf(x, values[i-1])); set != "" && set != charsetOf(texts[i]) {
				err = sqlstate.New(sqlstate.InvalidParameterValue, "COLLATION '%s' is not valid for CHARACTER SET '%s'", texts[i], set).
					WithMySQL(1253, "42000")
			}
		}
		if err != nil {
			return err
		}
	}
	for i, a := range plan {
		switch {
		case a.name == "client_encoding":
			err = setNames(x, values[i], a.value == nil)
		case a.Def == nil:
			err = stateOf(x).SetUserVariable(a.name, values[i])
		case a.value == nil:
			x.Host.Settings().Reset(a.Def.Name, false)
			x.Host.SettingsChanged()
		default:
			assignSystem(x, a.Def, texts[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setNames runs SET NAMES and SET CHARACTER SET.
func setNames(x *engine.Exec, v datum.Value, reset bool) error {
	name := "utf8mb4"
	if !reset {
		if name = charsetNamed(TextOf(x, v)); name == "" {
			return unknownCharset(TextOf(x, v))
		}
	}
	for _, key := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
		x.Host.Settings().Assign(key, name, false)
	}
	x.Host.Settings().Assign("collation_connection", charsets[name].collation, false)
	x.Host.SettingsChanged()
	return nil
}

// assignSystem sets a system variable whose value has been checked.
func assignSystem(x *engine.Exec, def *setting.Definition, value string) {
	switch def.Name {
	case "last_insert_id", "identity":
		n, _ := strconv.ParseUint(value, 10, 64)
		sessionOf(x).Drawn().Inserted = int64(n)
		return
	case "timestamp", "pseudo_thread_id", "rand_seed1", "rand_seed2", "insert_id":
		return // accepted without effect: programs that replay a binary log set them
	case "character_set_connection":
		x.Host.Settings().Assign("collation_connection", charsets[value].collation, false)
	case "collation_connection":
		x.Host.Settings().Assign("character_set_connection", charsetOf(value), false)
	}
	x.Host.Settings().Assign(def.Name, value, false)
	x.Host.SettingsChanged()
}

// Limits are those of SET STATEMENT name = value FOR statement; nil: the session's.
type Limits struct {
	Time *time.Duration // 0: none
	Rows *int64         // of a SELECT without LIMIT
}

// StatementLimits reads the items of SET STATEMENT. Only numbers for the limits of
// statements are supported, which is what drivers send.
func StatementLimits(items []syntax.SetItem) (l Limits, err error) {
	for _, item := range items {
		def, err := setting.LookupMySQL(item.Name)
		if err != nil {
			return l, engine.At(item.Pos, err)
		}
		unit := map[string]time.Duration{"max_statement_time": time.Second, "max_execution_time": time.Millisecond}[def.Name]
		if unit == 0 && def.Name != "sql_select_limit" {
			return l, engine.At(item.Pos, sqlstate.New(sqlstate.FeatureNotSupported, "The system variable %s cannot be set in SET STATEMENT.", def.Name).
				WithMySQL(1971, "42000"))
		}
		var value *syntax.Literal
		if len(item.Values) == 1 {
			value, _ = item.Values[0].(*syntax.Literal)
		}
		if value == nil || value.Kind == syntax.StringLiteral {
			return l, engine.At(item.Pos, wrongType(def))
		}
		n, err := strconv.ParseFloat(value.Text, 64)
		if err != nil {
			return l, engine.At(item.Pos, wrongType(def))
		}
		if unit > 0 {
			l.Time = new(time.Duration(min(n, def.Max) * float64(unit)))
		} else {
			l.Rows = new(int64(min(n, math.MaxInt64/2)))
		}
	}
	return l, nil
}
