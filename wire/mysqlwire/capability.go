package mysqlwire

// capability is a set of capability flags. The lower 32 are MySQL's. The upper ones
// are MariaDB's, which are sent in bytes that MySQL does not use.
type capability uint64

// The flags ("Capabilities Flags" in MySQL's documentation).
const (
	clientLongPassword    capability = 1 << 0 // set by a server that is not MariaDB
	clientFoundRows       capability = 1 << 1
	clientLongFlag        capability = 1 << 2
	clientConnectWithDB   capability = 1 << 3
	clientODBC            capability = 1 << 6
	clientIgnoreSpace     capability = 1 << 8
	clientProtocol41      capability = 1 << 9
	clientInteractive     capability = 1 << 10
	clientSSL             capability = 1 << 11
	clientIgnoreSigpipe   capability = 1 << 12
	clientTransactions    capability = 1 << 13
	clientReserved        capability = 1 << 14
	clientSecureAuth      capability = 1 << 15 // CLIENT_RESERVED2, once CLIENT_SECURE_CONNECTION
	clientMultiStatements capability = 1 << 16
	clientMultiResults    capability = 1 << 17
	clientPSMultiResults  capability = 1 << 18
	clientPluginAuth      capability = 1 << 19
	clientConnectAttrs    capability = 1 << 20
	clientLenencAuth      capability = 1 << 21
	clientSessionTrack    capability = 1 << 23
	clientDeprecateEOF    capability = 1 << 24

	mariadbBulk          capability = 1 << 34 // COM_STMT_BULK_EXECUTE
	mariadbCacheMetadata capability = 1 << 36 // the client caches the definitions from PREPARE
)

// offered is the set of capabilities of the server. conn.offered adds clientSSL
// where TLS is configured. CLIENT_LONG_PASSWORD is not set, as in MariaDB: only then
// do clients read MariaDB's flags. CLIENT_COMPRESS, CLIENT_LOCAL_FILES,
// CLIENT_QUERY_ATTRIBUTES and CLIENT_OPTIONAL_RESULTSET_METADATA are not implemented.
const offered = clientFoundRows | clientLongFlag | clientConnectWithDB | clientODBC | clientIgnoreSpace |
	clientProtocol41 | clientInteractive | clientIgnoreSigpipe | clientTransactions | clientReserved | clientSecureAuth |
	clientMultiStatements | clientMultiResults | clientPSMultiResults | clientPluginAuth | clientConnectAttrs |
	clientLenencAuth | clientSessionTrack | clientDeprecateEOF | mariadbBulk | mariadbCacheMetadata

func (c capability) has(flag capability) bool { return c&flag != 0 }

// Status flags (SERVER_STATUS_flags_enum).
const (
	statusInTransaction      = 1 << 0
	statusAutocommit         = 1 << 1
	statusMoreResults        = 1 << 3
	statusCursorExists       = 1 << 6
	statusLastRowSent        = 1 << 7
	statusNoBackslashEscapes = 1 << 9 // clients escape values by it: without it a value could end its quotes
	statusReadOnly           = 1 << 13
	statusSessionChanged     = 1 << 14
	statusANSIQuotes         = 1 << 15 // MariaDB's
)

// Commands (enum_server_command). Other commands are refused.
const (
	comQuit            = 0x01
	comInitDB          = 0x02
	comQuery           = 0x03
	comFieldList       = 0x04
	comRefresh         = 0x07
	comStatistics      = 0x09
	comProcessKill     = 0x0c
	comPing            = 0x0e
	comChangeUser      = 0x11
	comStmtPrepare     = 0x16
	comStmtExecute     = 0x17
	comStmtLongData    = 0x18
	comStmtClose       = 0x19
	comStmtReset       = 0x1a
	comSetOption       = 0x1b
	comStmtFetch       = 0x1c
	comResetConnection = 0x1f
	comStmtBulkExecute = 0xfa // MariaDB
)

// Character set ids (information_schema.collations). Texts are always sent
// in utf8mb4.
const (
	charsetUTF8MB4 = 45 // utf8mb4_general_ci: old clients have it, too
	charsetBinary  = 63
)
