package datum

// The array types that no function of nextid returns by itself. Clients name
// them in casts and as parameter types.
const (
	JSONArray          OID = 199
	ByteaArray         OID = 1001
	PgLSNArray         OID = 3221
	Int2VectorArray    OID = 1006
	RegProcArray       OID = 1008
	XidArray           OID = 1011
	OidVectorArray     OID = 1013
	BPCharArray        OID = 1014
	Float4Array        OID = 1021
	TimestampArray     OID = 1115
	DateArray          OID = 1182
	TimeArray          OID = 1183
	IntervalArray      OID = 1187
	CStringArray       OID = 1263
	RegClassArray      OID = 2210
	RegTypeArray       OID = 2211
	RecordArray        OID = 2287
	JSONBArray         OID = 3807
	RegNamespaceArray  OID = 4090
	RegRoleArray       OID = 4097
	RegProcedureArray  OID = 2207
	RegOperArray       OID = 2208
	RegOperatorArray   OID = 2209
	RegCollationArray  OID = 4192
	RegConfigArray     OID = 3735
	RegDictionaryArray OID = 3770
)

// Info describes a type as pg_catalog.pg_type does. An empty function name
// is pg_type's "-": there is no such function.
type Info struct {
	OID           OID
	Name          string // typname: int8
	Display       string // format_type: bigint
	Len           int16  // typlen: -1 is variable, -2 a C string
	ByVal         bool
	Kind          byte // typtype: b base, p pseudo-type
	Category      byte // typcategory: N numeric, S string, A array, …
	Preferred     bool // typispreferred
	Elem          OID  // of an array or vector; 0: not one (pg_type also says that a name consists of "char")
	Array         OID  // the type of arrays of it; 0: none
	Delim         byte // between the elements of an array
	Align         byte // typalign: c, s, i or d
	Storage       byte // typstorage: p, x, e or m
	InputFunc     string
	OutputFunc    string
	ReceiveFunc   string
	SendFunc      string
	ModInFunc     string
	ModOutFunc    string
	SubscriptFunc string
	Collation     uint32 // typcollation: 0, 100 "default" or 950 "C"
}

// TypeInfo returns what is known of a type; false for an OID that is none of ours.
func TypeInfo(oid OID) (Info, bool) {
	if t := lookup(oid); t != nil {
		return *t, true
	}
	return Info{}, false
}

// lookup finds a type's entry, nil when there is none.
func lookup(oid OID) *Info {
	low, high := 0, len(catalog)
	for low < high {
		mid := (low + high) / 2
		if catalog[mid].OID < oid {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(catalog) && catalog[low].OID == oid {
		return &catalog[low]
	}
	return nil
}

// Types returns all types by OID.
func Types() []Info { return append([]Info(nil), catalog[:]...) }

// category returns pg_type.typcategory, 0 for unknown OIDs.
func category(oid OID) byte {
	if t := lookup(oid); t != nil {
		return t.Category
	}
	return 0
}

// display returns the name of a type in messages.
func display(oid OID) string { return FormatType(oid, -1) }
