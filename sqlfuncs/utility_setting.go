package sqlfuncs

import (
	"maps"
	"slices"
	"strings"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
	"nextid/sqlfuncs/setting"
	"nextid/sqlfuncs/sqlstate"
	"nextid/sqlfuncs/syntax"
)

// assign sets a setting for the session, or for the transaction if local. A session
// cannot take the rights of another user.
func (s *Session) assign(def *setting.Definition, value string, local bool) error {
	key := strings.ToLower(def.Name)
	switch key {
	case "session_authorization", "role":
		if def, _ := s.vars.Begins(key); value != "default" && value != "none" && value != def && value != s.options.User {
			return sqlstate.New(sqlstate.InsufficientPrivilege, "permission denied to set %s %q", strings.ReplaceAll(key, "_", " "), sqlstate.Cut(value, 64)).
				WithHint("Connect as that user instead.")
		}
		if value == "default" {
			value, _ = s.vars.Begins(key)
		}
	}
	if local && s.tx.state == txIdle {
		s.warn(sqlstate.NoActiveTransaction, "SET LOCAL can only be used in transaction blocks")
	}
	if s.vars.Count() > maxSessionSettings {
		return sqlstate.New(sqlstate.LimitExceeded, "a session may change at most %d settings", maxSessionSettings)
	}
	if s.tx.state != txIdle {
		s.vars.KeepMode(key)
	}
	s.vars.Assign(key, value, local)
	s.settingsChanged()
	return nil
}

// maxSessionSettings limits the settings that a session may change.
const maxSessionSettings = 512

// set plans SET and RESET. Unknown names are errors before the first item is set.
func set(p *engine.Planner, st *Statement, t *syntax.Set) error {
	st.tag = t.Tag
	for _, item := range t.Items {
		if _, err := setting.Lookup(item.Name); err != nil && !item.Global && plannedFor(p).dialect == syntax.PostgreSQL {
			return engine.At(item.Pos, err)
		}
	}
	st.utility = utilityFunc(func(x *engine.Exec) error {
		for i := range t.Items {
			if err := assign(x, &t.Items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// assign runs one item of SET.
func assign(x *engine.Exec, item *syntax.SetItem) error {
	s, err := setting.Lookup(item.Name)
	if err != nil {
		return err
	}
	local := item.Local || strings.HasPrefix(s.Name, "transaction_")
	if item.Default {
		sessionOf(x).vars.Reset(strings.ToLower(s.Name), local)
		sessionOf(x).settingsChanged()
		return nil
	}
	value, err := settingText(x, s, item.Values)
	if err != nil {
		return err
	}
	if value, err = s.Normalize(value); err != nil {
		return err
	}
	return sessionOf(x).assign(s, value, local)
}

// settingText joins the values of SET: words, strings and numbers. search_path is a
// list of identifiers and is shown with their quotes.
func settingText(x *engine.Exec, def *setting.Definition, values []syntax.Expr) (string, error) {
	parts := make([]string, len(values))
	for i, e := range values {
		switch e := e.(type) {
		case *syntax.Column:
			parts[i] = strings.Join(e.Name, ".")
		case *syntax.Literal:
			parts[i] = e.Text
		default:
			p := sessionOf(x).planner("")
			c, err := p.Expr(nil, e)
			interval := err == nil && c.Type == datum.Interval
			if err == nil {
				c, err = p.Coerce(c, datum.Text, datum.ExplicitCast)
			}
			if err != nil {
				return "", err
			}
			v, err := c.Eval(x)
			if err != nil {
				return "", err
			}
			if parts[i] = v.Str; interval && def.Name == "TimeZone" {
				parts[i] = setting.EastZone(v.Str)
			}
		}
	}
	if def.Name == "search_path" {
		for i, part := range parts {
			parts[i] = syntax.QuoteIdent(part)
		}
	}
	return strings.Join(parts, ", "), nil
}

// resetAll runs RESET ALL.
func resetAll(x *engine.Exec) error {
	sessionOf(x).vars.ResetAll()
	sessionOf(x).settingsChanged()
	return nil
}

// show plans SHOW name and SHOW ALL. It hides settings that only administrators may
// read.
func show(p *engine.Planner, st *Statement, t *syntax.Show) error {
	st.tag = "SHOW"
	if strings.EqualFold(t.Name, "all") {
		st.query = &engine.QueryPlan{
			Columns: []engine.Column{engine.TextColumn("name"), engine.TextColumn("setting"), engine.TextColumn("description")},
			Open: func(x *engine.Exec) (engine.Rows, error) {
				var rows [][]datum.Value
				for _, key := range slices.Sorted(maps.Keys(setting.PostgreSQL)) {
					if setting.MayExamine(key, x.Host.Client().Admin) != nil {
						continue
					}
					value, _ := sessionOf(x).vars.Get(key)
					rows = append(rows, []datum.Value{datum.MakeText(setting.PostgreSQL[key].Name), datum.MakeText(value), datum.MakeText("")})
				}
				return &engine.SliceRows{Rows: rows}, nil
			},
		}
		st.Columns = st.query.Columns
		return nil
	}
	def, err := setting.Lookup(t.Name)
	if err != nil {
		return err
	}
	key := strings.ToLower(def.Name)
	st.query = &engine.QueryPlan{Columns: []engine.Column{engine.TextColumn(def.Name)}, Open: func(x *engine.Exec) (engine.Rows, error) {
		if err := setting.MayExamine(key, x.Host.Client().Admin); err != nil {
			return nil, err
		}
		value, ok := sessionOf(x).vars.Get(key)
		if !ok {
			return nil, setting.Unknown(t.Name)
		}
		return engine.SingleRow(datum.MakeText(value)), nil
	}}
	st.Columns = st.query.Columns
	return nil
}

// discardPlan plans DISCARD. PLANS and TEMP have nothing to discard.
func discardPlan(st *Statement, t *syntax.Discard) error {
	st.tag = "DISCARD " + t.What
	st.utility = utilityFunc(func(x *engine.Exec) error {
		s := sessionOf(x)
		switch t.What {
		case "SEQUENCES":
			s.Fast.drawn.Reset(&s.memory)
		case "ALL":
			if s.tx.state != txIdle {
				return sqlstate.New(sqlstate.ActiveTransaction, "DISCARD ALL cannot run inside a transaction block")
			}
			s.closePortals(func(p *Portal) bool { return p != portalOf(x) })
			s.vars.ResetAll()
			s.settingsChanged()
			s.unprepareAll()
			s.Fast.drawn.Reset(&s.memory)
		}
		return nil
	})
	return nil
}

// listenPlan plans LISTEN, UNLISTEN and NOTIFY. Poolers send UNLISTEN to clean up.
// The others are refused, since nextid sends no notifications.
func listenPlan(st *Statement, t *syntax.Listen) error {
	if t.Kind != "UNLISTEN" {
		return sqlstate.New(sqlstate.FeatureNotSupported, "%s is not supported by nextid", t.Kind).
			WithHint("nextid sends no notifications.")
	}
	st.tag, st.utility = t.Kind, utilityFunc(func(*engine.Exec) error { return nil })
	return nil
}
