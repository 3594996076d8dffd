package wire

import (
	"reflect"
	"time"
)

// Limits bound the memory and the time that a client can make the server spend. A
// zero field means its value in DefaultLimits. Sizes are in bytes.
type Limits struct {
	// Connections bounds the connections that have logged in. ReservedForSocket of
	// them are for Unix sockets only, so that an operator can still log in.
	Connections       int
	ReservedForSocket int

	// PerIP bounds the connections of one address that have logged in. Unix
	// sockets do not count.
	PerIP int

	// PreAuth bounds the connections that have not logged in. One more evicts
	// another, see Places.
	PreAuth int

	FirstByte time.Duration // from accept to the first byte
	Login     time.Duration // from accept to the end of the login
	Message   time.Duration // from the first byte of a message to its last; of one that is discarded, from where that begins
	Write     time.Duration // of one write, until the client has read it
	Idle      time.Duration // between two messages; 0: no limit. A session may set less

	Startup       int // start-up packet, SSLRequest, GSSENCRequest, CancelRequest
	StartupParams int // parameters in a start-up packet
	Auth          int // one message of the login: password, SASL
	Statement     int // one message with a statement or values: Query, Parse, Bind; COM_QUERY, COM_STMT_*
	Small         int // any other message
	Parameters    int // values of a Bind or COM_STMT_EXECUTE, types of a Parse
	ResultFormats int // result formats of a Bind

	FlushAt int // answers that are collected before they are sent

	LogText int // of a client's statement in one log line
	LogName int // of a client's name in one log line
}

// DefaultLimits are the limits of a server that was not configured.
var DefaultLimits = Limits{
	Connections:       5000,
	ReservedForSocket: 5,
	PerIP:             500,
	PreAuth:           256,

	FirstByte: 5 * time.Second,
	Login:     10 * time.Second,
	Message:   time.Minute,
	Write:     30 * time.Second,

	Startup:       10_000, // MAX_STARTUP_PACKET_LENGTH of PostgreSQL's libpq/pqcomm.h
	StartupParams: 32,
	Auth:          1024, // PG_MAX_SASL_MESSAGE_LENGTH of libpq/auth.c
	Statement:     1 << 20,
	Small:         10_000, // PQ_SMALL_MESSAGE_LIMIT of libpq/libpq.h
	Parameters:    256,
	ResultFormats: 256,

	FlushAt: 64 << 10,

	LogText: 200,
	LogName: 64,
}

// WithDefaults returns l with its zero fields filled in.
func (l Limits) WithDefaults() Limits {
	v, d := reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			v.Field(i).Set(d.Field(i))
		}
	}
	return l
}
