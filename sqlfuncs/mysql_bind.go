package sqlfuncs

import (
	"encoding/binary"
	"maps"

	"nextid/sqlfuncs/datum"
	"nextid/sqlfuncs/engine"
)

// maxVariants limits the plans that are kept for one statement, one for each list
// of parameter types.
const maxVariants = 16

// maxVariantBytes is the largest plan that is kept for several types.
const maxVariantBytes = 64 << 10

// forTypes returns the statement planned for the parameter types of this execution.
// MySQL's clients send the types only with COM_STMT_EXECUTE. Prepare assumes text
// for parameters whose types do not follow from their use.
func (s *Session) forTypes(st *Statement, args []Arg) (*Statement, error) {
	same := true
	for i, a := range args {
		same = same && (a.Type == datum.Invalid || a.Type == st.Params[i] || engine.IsString(a.Type) && engine.IsString(st.Params[i]))
	}
	if same {
		return st, nil
	}
	types := make([]datum.OID, len(args))
	var key []byte
	for i, a := range args {
		if types[i] = a.Type; engine.IsString(a.Type) {
			types[i] = datum.Text
		}
		key = binary.BigEndian.AppendUint32(key, uint32(types[i]))
	}
	known := st.variants.Load()
	if known != nil {
		if v := (*known)[string(key)]; v != nil {
			return v, nil
		}
	}
	if err := s.memory.Draw(st.cost); err != nil {
		return nil, err
	}
	defer s.memory.Return(st.cost)
	v, err := s.plan(st.tree, st.Text, st.Text, types)
	if err != nil {
		return nil, err
	}
	v.cost = st.cost
	if v.shared && st.cost < maxVariantBytes && (known == nil || len(*known) < maxVariants) {
		next := map[string]*Statement{}
		if known != nil {
			next = maps.Clone(*known)
		}
		next[string(key)] = v
		st.variants.CompareAndSwap(known, &next)
	}
	return v, nil
}
