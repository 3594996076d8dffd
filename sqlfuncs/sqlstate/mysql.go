package sqlstate

// MySQLNumber identifies an error in MySQL's protocol (ERR_Packet): a number and an
// SQLSTATE, which often differs from PostgreSQL's.
type MySQLNumber struct {
	Number uint16
	State  string // five characters
}

// mysqlNumbers maps codes to numbers of MariaDB's list of error codes. Other codes have
// 1105 (ER_UNKNOWN_ERROR). An error with a more precise number sets it by WithMySQL.
var mysqlNumbers = map[Code]MySQLNumber{
	ActiveTransaction:      {1568, "25001"},
	IdleInTransaction:      {1927, "70100"},
	InvalidStatementName:   {1243, "HY000"},
	InvalidCursorName:      {1324, "42000"},
	InvalidSavepoint:       {1305, "42000"},
	InvalidCatalog:         {1049, "42000"},
	InvalidSchema:          {1049, "42000"},
	FeatureNotSupported:    {1235, "42000"},
	ProtocolViolation:      {1835, "HY000"},
	StringTooLong:          {1406, "22001"},
	NumericOutOfRange:      {1690, "22003"},
	NullNotAllowed:         {1048, "23000"},
	InvalidDatetime:        {1292, "22007"},
	DatetimeOverflow:       {1441, "22008"},
	DivisionByZero:         {1365, "22012"},
	InvalidRowCountLimit:   {1210, "HY000"},
	InvalidRowCountOffset:  {1210, "HY000"},
	InvalidEscape:          {1210, "HY000"},
	InvalidRegex:           {1139, "42000"},
	CharacterNotInRepert:   {1300, "HY000"},
	InvalidParameterValue:  {1210, "HY000"},
	InvalidText:            {1292, "22007"},
	InvalidBinary:          {1292, "22007"},
	SequenceExhausted:      {1467, "HY000"},
	SyntaxError:            {1064, "42000"},
	InsufficientPrivilege:  {1142, "42000"},
	Grouping:               {1111, "HY000"},
	WindowingError:         {3593, "HY000"},
	UndefinedColumn:        {1054, "42S22"},
	UndefinedFunction:      {1305, "42000"},
	UndefinedTable:         {1146, "42S02"},
	UndefinedParameter:     {1210, "HY000"},
	UndefinedObject:        {1193, "HY000"},
	DuplicateObject:        {1050, "42S01"},
	DuplicateTable:         {1050, "42S01"},
	DuplicateCursor:        {1333, "42000"},
	DuplicateStatement:     {1243, "HY000"},
	DuplicateAlias:         {1066, "42000"},
	AmbiguousColumn:        {1052, "23000"},
	InvalidColumnReference: {1054, "42S22"},
	WrongObjectType:        {1347, "HY000"},
	InvalidName:            {1103, "42000"},
	Cardinality:            {1242, "21000"},
	LimitExceeded:          {1226, "42000"},
	TooComplex:             {1436, "HY000"},
	QuotaExceeded:          {1226, "42000"},
	TooManyConnections:     {1040, "08004"},
	OutOfMemory:            {1041, "HY000"},
	CannotChangeNow:        {1238, "HY000"},
	LockNotAvailable:       {1205, "HY000"},
	NotPrerequisite:        {4084, "HY000"},
	QueryCanceled:          {1317, "70100"},
	AdminShutdown:          {1053, "08S01"},
	ConnectionFailure:      {1159, "08S01"},
	CannotConnectNow:       {1053, "08S01"},
	IdleSession:            {4031, "HY000"},
	InvalidPassword:        {1045, "28000"},
	InvalidAuthorization:   {1045, "28000"},
}

// MySQL returns the error's number and state in MySQL's protocol. It is 1105
// (ER_UNKNOWN_ERROR) for codes without a number.
func (e *Error) MySQL() MySQLNumber {
	if e.mysql.Number != 0 {
		return e.mysql
	}
	if n, ok := mysqlNumbers[e.Code]; ok {
		return n
	}
	return MySQLNumber{1105, "HY000"}
}

// WithMySQL sets the number and state in MySQL's protocol and returns e; see
// WithHint.
func (e *Error) WithMySQL(number uint16, state string) *Error {
	e.mysql = MySQLNumber{number, state}
	return e
}
