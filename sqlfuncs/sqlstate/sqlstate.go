// Package sqlstate defines Error, the type of all errors that clients get. It has
// the codes of PostgreSQL's appendix A ("PostgreSQL Error Codes") that nextid uses,
// and the error number of MySQL for each.
//
// New makes an Error; WithHint, WithDetail, At and WithMySQL add to it. A message
// tells what happened, with the value; a hint tells what to do. An Error that is
// returned to a caller must not change, since package variables hold some.
package sqlstate

import (
	"fmt"
	"time"
)

// Code is a five-character SQLSTATE.
type Code string

// The codes in use. The comments are PostgreSQL's condition names.
const (
	Success                Code = "00000" // successful_completion
	Warning                Code = "01000" // warning
	ActiveTransaction      Code = "25001" // active_sql_transaction
	NoActiveTransaction    Code = "25P01" // no_active_sql_transaction
	FailedTransaction      Code = "25P02" // in_failed_sql_transaction
	IdleInTransaction      Code = "25P03" // idle_in_transaction_session_timeout
	InvalidStatementName   Code = "26000" // invalid_sql_statement_name
	InvalidCursorName      Code = "34000" // invalid_cursor_name
	InvalidSavepoint       Code = "3B001" // invalid_savepoint_specification
	InvalidCatalog         Code = "3D000" // invalid_catalog_name
	InvalidSchema          Code = "3F000" // invalid_schema_name
	FeatureNotSupported    Code = "0A000" // feature_not_supported
	ConnectionFailure      Code = "08006" // connection_failure
	ProtocolViolation      Code = "08P01" // protocol_violation
	StringTooLong          Code = "22001" // string_data_right_truncation
	NumericOutOfRange      Code = "22003" // numeric_value_out_of_range
	NullNotAllowed         Code = "22004" // null_value_not_allowed
	InvalidDatetime        Code = "22007" // invalid_datetime_format
	DatetimeOverflow       Code = "22008" // datetime_field_overflow
	DivisionByZero         Code = "22012" // division_by_zero
	InvalidRowCountLimit   Code = "2201W" // invalid_row_count_in_limit_clause
	InvalidRowCountOffset  Code = "2201X" // invalid_row_count_in_result_offset_clause
	InvalidEscape          Code = "22025" // invalid_escape_sequence
	InvalidRegex           Code = "2201B" // invalid_regular_expression
	CharacterNotInRepert   Code = "22021" // character_not_in_repertoire
	InvalidParameterValue  Code = "22023" // invalid_parameter_value
	InvalidText            Code = "22P02" // invalid_text_representation
	InvalidBinary          Code = "22P03" // invalid_binary_representation
	SequenceExhausted      Code = "2200H" // sequence_generator_limit_exceeded
	SyntaxError            Code = "42601" // syntax_error
	InsufficientPrivilege  Code = "42501" // insufficient_privilege
	CannotCoerce           Code = "42846" // cannot_coerce
	Grouping               Code = "42803" // grouping_error
	WindowingError         Code = "42P20" // windowing_error
	InvalidRecursion       Code = "42P19" // invalid_recursion
	DatatypeMismatch       Code = "42804" // datatype_mismatch
	UndefinedColumn        Code = "42703" // undefined_column
	UndefinedFunction      Code = "42883" // undefined_function
	UndefinedTable         Code = "42P01" // undefined_table
	UndefinedParameter     Code = "42P02" // undefined_parameter
	UndefinedObject        Code = "42704" // undefined_object
	DuplicateObject        Code = "42710" // duplicate_object
	DuplicateTable         Code = "42P07" // duplicate_table
	DuplicateCursor        Code = "42P03" // duplicate_cursor
	DuplicateStatement     Code = "42P05" // duplicate_prepared_statement
	DuplicateAlias         Code = "42712" // duplicate_alias
	AmbiguousColumn        Code = "42702" // ambiguous_column
	AmbiguousFunction      Code = "42725" // ambiguous_function
	IndeterminateDatatype  Code = "42P18" // indeterminate_datatype
	InvalidColumnReference Code = "42P10" // invalid_column_reference
	WrongObjectType        Code = "42809" // wrong_object_type
	InvalidName            Code = "42602" // invalid_name
	Cardinality            Code = "21000" // cardinality_violation
	LimitExceeded          Code = "54000" // program_limit_exceeded
	TooComplex             Code = "54001" // statement_too_complex
	QuotaExceeded          Code = "53400" // configuration_limit_exceeded
	TooManyConnections     Code = "53300" // too_many_connections
	OutOfMemory            Code = "53200" // out_of_memory
	CannotChangeNow        Code = "55P02" // cant_change_runtime_param
	LockNotAvailable       Code = "55P03" // lock_not_available: the statement may be repeated on this server
	NotPrerequisite        Code = "55000" // object_not_in_prerequisite_state
	QueryCanceled          Code = "57014" // query_canceled
	AdminShutdown          Code = "57P01" // admin_shutdown
	CannotConnectNow       Code = "57P03" // cannot_connect_now: another server may answer
	IdleSession            Code = "57P05" // idle_session_timeout
	SystemError            Code = "58000" // system_error: the store is inconsistent
	InvalidPassword        Code = "28P01" // invalid_password
	InvalidAuthorization   Code = "28000" // invalid_authorization_specification
	Internal               Code = "XX000" // internal_error
)

// Error is an error as clients get it. Only HTTP sends Retry. Cause is never sent.
type Error struct {
	Code     Code
	Message  string
	Detail   string
	Hint     string
	Position int           // character (not byte) of the statement, from 1; 0: none
	Retry    time.Duration // time after which the statement may succeed, 0: not known
	Cause    error         // for the log

	mysql MySQLNumber // see WithMySQL
}

// Error returns the message with the SQLSTATE.
func (e *Error) Error() string { return e.Message + " (SQLSTATE " + string(e.Code) + ")" }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// New makes an Error with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint and returns e. It changes e, so call it only on the result
// of New.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail sets the detail and returns e; see WithHint.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// At sets the position and returns e; see WithHint.
func (e *Error) At(position int) *Error {
	e.Position = position
	return e
}
