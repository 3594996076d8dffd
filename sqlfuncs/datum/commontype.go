package datum

import "nextid/sqlfuncs/sqlstate"

// CommonType finds the type of UNION, CASE, COALESCE, VALUES and the like
// (PostgreSQL's chapter 10.5): all inputs of one type keep it; unknown
// literals follow the others and are text among themselves; else the types
// must share a category, and the one wins to which the others convert
// implicitly. Errors: 42804 with the message "types integer and text cannot
// be matched", in front of which the caller puts the construct.
func CommonType(types []OID) (OID, error) {
	chosen := Unknown
	for _, t := range types {
		if t == Unknown || t == chosen {
			continue
		}
		if chosen == Unknown {
			chosen = t
			continue
		}
		if category(chosen) != category(t) {
			return Invalid, sqlstate.New(sqlstate.DatatypeMismatch, "types %s and %s cannot be matched", display(chosen), display(t))
		}
		if !preferred(chosen) && CastAllowed(chosen, t) == ImplicitCast && CastAllowed(t, chosen) != ImplicitCast {
			chosen = t
		}
	}
	if chosen == Unknown {
		return Text, nil
	}
	return chosen, nil
}

func preferred(oid OID) bool {
	t := lookup(oid)
	return t != nil && t.Preferred
}
