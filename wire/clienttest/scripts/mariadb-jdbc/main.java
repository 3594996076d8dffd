import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;

class Main {
    static final String NEXT = "SELECT next_id('orders')";
    static final String BOUND = "SELECT next_id(?)";

    static Connection connect(String options) throws SQLException {
        return DriverManager.getConnection(
                Verdict.url("mariadb") + "?connectTimeout=10000" + options, Verdict.user(), Verdict.password());
    }

    static long id(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement();
                ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getLong(1);
        }
    }

    static long[] two(Connection c, String sql) throws SQLException {
        return new long[] {id(c, sql), id(c, sql)};
    }

    static long[] two(String options) throws SQLException {
        try (Connection c = connect(options)) {
            return two(c, NEXT);
        }
    }

    static long[] prepared(Connection c, String sql) throws SQLException {
        long[] ids = new long[2];
        try (PreparedStatement s = c.prepareStatement(sql)) {
            if (sql.contains("?")) {
                s.setString(1, "orders");
            }
            for (int i = 0; i < ids.length; i++) {
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    ids[i] = r.getLong(1);
                }
            }
        }
        return ids;
    }

    static long[] prepared(String options, String sql) throws SQLException {
        try (Connection c = connect(options)) {
            return prepared(c, sql);
        }
    }

    public static void main(String[] args) throws Exception {
        Connection c = connect("");
        Verdict.check("Statement", () -> two(c, NEXT));
        Verdict.check("column type and label", () -> {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery(NEXT + " AS id")) {
                ResultSetMetaData m = r.getMetaData();
                return m.getColumnType(1) == Types.BIGINT && m.getColumnLabel(1).equals("id");
            }
        });
        Verdict.check("PreparedStatement, put together by the client", () -> prepared(c, BOUND));
        Verdict.check("useServerPrepStmts: PREPARE and EXECUTE in one go", () -> prepared("&useServerPrepStmts=true", BOUND));
        Verdict.check("useServerPrepStmts without parameters", () -> prepared("&useServerPrepStmts=true", NEXT));
        Verdict.check("transaction", () -> {
            c.setAutoCommit(false);
            try {
                long[] ids = two(c, NEXT);
                c.commit();
                id(c, NEXT);
                c.rollback();
                return ids;
            } finally {
                c.setAutoCommit(true);
            }
        });
        Verdict.check("savepoint", () -> {
            c.setAutoCommit(false);
            try {
                long first = id(c, NEXT);
                Savepoint s = c.setSavepoint("s");
                long second = id(c, NEXT);
                c.rollback(s);
                c.commit();
                return new long[] {first, second};
            } finally {
                c.setAutoCommit(true);
            }
        });
        Verdict.check("isValid", () -> c.isValid(2));
        Verdict.check("isolation, readOnly, catalog", () -> {
            c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            c.setReadOnly(true);
            c.setReadOnly(false);
            c.setCatalog(System.getenv("DB"));
            return c.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED
                    && c.getCatalog().equals(System.getenv("DB"));
        });
        Verdict.check("setQueryTimeout", () -> {
            try (Statement s = c.createStatement()) {
                s.setQueryTimeout(5);
                s.executeQuery("SELECT 1").close();
            }
            return true;
        });
        Verdict.check("setFetchSize: row by row", () -> {
            try (Statement s = c.createStatement()) {
                s.setFetchSize(1);
                int rows = 0;
                try (ResultSet r = s.executeQuery("SELECT id FROM next_ids('orders', 3) AS id")) {
                    while (r.next()) {
                        rows++;
                    }
                }
                return rows == 3;
            }
        });
        Verdict.check("batch", () -> {
            try (PreparedStatement s = c.prepareStatement("DO next_id(?)")) {
                for (int i = 0; i < 3; i++) {
                    s.setString(1, "orders");
                    s.addBatch();
                }
                return s.executeBatch().length == 3;
            }
        });
        Verdict.check("getGeneratedKeys of DO", () -> {
            try (Statement s = c.createStatement()) {
                s.executeUpdate("DO next_id('orders')", Statement.RETURN_GENERATED_KEYS);
                try (ResultSet r = s.getGeneratedKeys()) {
                    return r.next() && r.getLong(1) > 0;
                }
            }
        });
        Verdict.check("syntax error 1064", () -> {
            try {
                id(c, "SELEC 1");
                return false;
            } catch (SQLException e) {
                return e.getErrorCode() == 1064 && e.getSQLState().equals("42000");
            }
        });
        Verdict.check("allowMultiQueries", () -> {
            try (Connection d = connect("&allowMultiQueries=true");
                    Statement s = d.createStatement()) {
                long[] ids = new long[2];
                s.execute(NEXT + "; " + NEXT);
                for (int i = 0; i < ids.length; i++) {
                    try (ResultSet r = s.getResultSet()) {
                        r.next();
                        ids[i] = r.getLong(1);
                    }
                    s.getMoreResults();
                }
                return ids;
            }
        });
        for (String options : new String[] {
            "&usePipelineAuth=false&useBatchMultiSend=false&sessionVariables=wait_timeout=100",
            "&jdbcCompliantTruncation=true&createDatabaseIfNotExist=false",
            "&rewriteBatchedStatements=true&useBulkStmts=true",
            "&useCompression=true",
        }) {
            Verdict.check(options.substring(1), () -> two(options));
        }
        if (Verdict.META) {
            meta(c);
        }
        c.close();
        Verdict.done();
    }

    static void meta(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        Verdict.check("meta getDatabaseProductVersion", () -> m.getDatabaseProductVersion());
        Verdict.check("meta getTables", () -> rows(m.getTables(null, null, "%", null)));
        Verdict.check("meta getColumns", () -> rows(m.getColumns(null, null, "ids", "%")).equals("2 rows"));
        Verdict.check("meta getCatalogs", () -> rows(m.getCatalogs()));
        Verdict.check("meta getPrimaryKeys", () -> rows(m.getPrimaryKeys(null, null, "ids")));
        Verdict.check("meta getIndexInfo", () -> rows(m.getIndexInfo(null, null, "ids", false, true)));
        Verdict.check("meta getImportedKeys", () -> rows(m.getImportedKeys(null, null, "ids")));
        Verdict.check("meta getFunctions", () -> rows(m.getFunctions(null, null, "next%")));
        Verdict.check("meta getFunctionColumns", () -> rows(m.getFunctionColumns(null, null, "next%", "%")));
        Verdict.check("meta getProcedures", () -> rows(m.getProcedures(null, null, "%")));
        Verdict.check("meta getTypeInfo", () -> rows(m.getTypeInfo()));
        Verdict.check("meta getSchemas", () -> rows(m.getSchemas()));
        Verdict.check("meta CallableStatement {?= call next_id(?)}", () -> {
            try (CallableStatement s = c.prepareCall("{?=call next_id(?)}")) {
                s.registerOutParameter(1, Types.BIGINT);
                s.setString(2, "orders");
                s.execute();
                long first = s.getLong(1);
                s.execute();
                return new long[] {first, s.getLong(1)};
            }
        });
    }

    static String rows(ResultSet r) throws SQLException {
        int n = 0;
        while (r.next()) {
            n++;
        }
        r.close();
        return n + " rows";
    }
}
