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
import java.util.Properties;

class Main {
    static final String NEXT = "SELECT next_id('orders')";
    static final String BOUND = "SELECT next_id(?)";

    static Connection connect(String... properties) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", Verdict.user());
        p.setProperty("password", Verdict.password());
        p.setProperty("loginTimeout", "10");
        for (int i = 0; i < properties.length; i += 2) {
            p.setProperty(properties[i], properties[i + 1]);
        }
        return DriverManager.getConnection(Verdict.url(), p);
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

    static long id(PreparedStatement s) throws SQLException {
        try (ResultSet r = s.executeQuery()) {
            r.next();
            return r.getLong(1);
        }
    }

    /** The first and the last id of a statement that is executed n times. */
    static long[] prepared(Connection c, String sql, int n) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            if (sql.contains("?")) {
                s.setString(1, "orders");
            }
            long first = id(s);
            long last = first;
            for (int i = 1; i < n; i++) {
                last = id(s);
            }
            return new long[] {first, last};
        }
    }

    static int rows(ResultSet r) throws SQLException {
        int n = 0;
        while (r.next()) {
            n++;
        }
        r.close();
        return n;
    }

    static int nextIDs(Connection c, int fetchSize) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("SELECT * FROM next_ids(?,?)")) {
            s.setFetchSize(fetchSize);
            s.setString(1, "orders");
            s.setInt(2, 3);
            return rows(s.executeQuery());
        }
    }

    static void connected(String what, String... properties) {
        Verdict.check(what, () -> {
            try (Connection c = connect(properties)) {
                return prepared(c, BOUND, 2);
            }
        });
    }

    public static void main(String[] args) throws Exception {
        Connection c = connect();
        statements(c);
        transactions(c);
        connections();
        if (Verdict.META) {
            catalogs(c);
        }
        c.close();
        Verdict.done();
    }

    static void statements(Connection c) {
        Verdict.check("Statement", () -> two(c, NEXT));
        Verdict.check("the column is a BIGINT", () -> {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT next_id('orders') AS id")) {
                ResultSetMetaData m = r.getMetaData();
                return m.getColumnType(1) == Types.BIGINT && m.getColumnLabel(1).equals("id");
            }
        });
        Verdict.check("PreparedStatement: named and binary from the 5th time", () -> prepared(c, BOUND, 7));
        Verdict.check("PreparedStatement of the statement cache", () -> {
            long first = prepared(c, BOUND, 1)[0];
            return new long[] {first, prepared(c, BOUND, 1)[0]};
        });
        Verdict.check("PreparedStatement without parameters", () -> prepared(c, "select nextval('orders')", 7));
        Verdict.check("nextval(?)", () -> prepared(c, "select nextval(?)", 2));
        Verdict.check("parse_id(?), setLong", () -> {
            try (PreparedStatement s = c.prepareStatement("SELECT layout FROM parse_id(?)")) {
                s.setLong(1, 1L << 40);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    return r.getString(1);
                }
            }
        });
        Verdict.check("next_ids(?,?), setInt", () -> nextIDs(c, 0) == 3);
        Verdict.check("several statements in one", () -> {
            try (Statement s = c.createStatement()) {
                s.execute(NEXT + "; " + NEXT);
                long[] ids = new long[2];
                for (int i = 0; i < 2; i++) {
                    try (ResultSet r = s.getResultSet()) {
                        r.next();
                        ids[i] = r.getLong(1);
                    }
                    s.getMoreResults();
                }
                return ids;
            }
        });
        Verdict.check("{?= call next_id(?)}", () -> {
            try (CallableStatement s = c.prepareCall("{?= call next_id(?)}")) {
                s.registerOutParameter(1, Types.BIGINT);
                s.setString(2, "orders");
                s.execute();
                long first = s.getLong(1);
                s.execute();
                return new long[] {first, s.getLong(1)};
            }
        });
        Verdict.check("SQLSTATE 42601", () -> {
            try {
                id(c, "SELEC 1");
                return false;
            } catch (SQLException e) {
                return e.getSQLState().equals("42601");
            }
        });
        Verdict.check("DEALLOCATE ALL, DISCARD ALL", () -> {
            try (Statement s = c.createStatement()) {
                s.execute("DEALLOCATE ALL");
                s.execute("DISCARD ALL");
            }
            return true;
        });
    }

    static void transactions(Connection c) {
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
        Verdict.check("fetchSize 1 in a transaction: a portal", () -> {
            c.setAutoCommit(false);
            try {
                return nextIDs(c, 1) == 3;
            } finally {
                c.setAutoCommit(true);
            }
        });
        Verdict.check("savepoints", () -> {
            c.setAutoCommit(false);
            try {
                long first = id(c, NEXT);
                Savepoint s = c.setSavepoint();
                long second = id(c, NEXT);
                c.rollback(s);
                c.releaseSavepoint(c.setSavepoint("named"));
                c.commit();
                return new long[] {first, second};
            } finally {
                c.setAutoCommit(true);
            }
        });
        Verdict.check("setReadOnly, setTransactionIsolation", () -> {
            c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            int level = c.getTransactionIsolation();
            c.setReadOnly(true);
            c.setReadOnly(false);
            c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            return level == Connection.TRANSACTION_REPEATABLE_READ;
        });
    }

    static void connections() throws SQLException {
        try (Connection c = connect()) {
            Verdict.check("isValid", () -> c.isValid(2));
            Verdict.check("setSchema, getSchema, getCatalog", () -> {
                c.setSchema("public");
                return c.getSchema() + " " + c.getCatalog();
            });
            Verdict.check("setClientInfo, setNetworkTimeout, setQueryTimeout", () -> {
                c.setClientInfo("ApplicationName", "check");
                c.setNetworkTimeout(Runnable::run, 5000);
                try (Statement s = c.createStatement()) {
                    s.setQueryTimeout(5);
                    return rows(s.executeQuery("SELECT 1")) == 1;
                }
            });
        }
        for (String mode : new String[] {"simple", "extended", "extendedForPrepared", "extendedCacheEverything"}) {
            connected("preferQueryMode=" + mode, "preferQueryMode", mode);
        }
        for (String threshold : new String[] {"1", "-1", "0"}) { // at once, forced binary, never: as behind a pooler
            connected("prepareThreshold=" + threshold, "prepareThreshold", threshold);
        }
        connected("stringtype=unspecified", "stringtype", "unspecified");
        connected("targetServerType=primary", "targetServerType", "primary");
        connected("targetServerType=preferSecondary", "targetServerType", "preferSecondary");
        connected("options, currentSchema, ApplicationName, assumeMinServerVersion", "options", "-c statement_timeout=5000",
                "currentSchema", "public", "ApplicationName", "check", "assumeMinServerVersion", "12", "readOnly", "false");
        Verdict.check("autosave=always", () -> {
            try (Connection c = connect("autosave", "always")) {
                c.setAutoCommit(false);
                long[] ids = two(c, NEXT);
                c.commit();
                return ids;
            }
        });
    }

    /** A query of the catalogs and its least number of rows. */
    interface Catalog {
        ResultSet query() throws SQLException;
    }

    static void catalog(String what, int atLeast, Catalog f) {
        Verdict.check("meta " + what, () -> {
            int n = rows(f.query());
            return n >= atLeast;
        });
    }

    static void catalogs(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        Verdict.check("meta product", () -> m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion());
        catalog("getTables", 1, () -> m.getTables(null, null, "%", new String[] {"TABLE", "VIEW", "FOREIGN TABLE"}));
        catalog("getTables public.ids", 1, () -> m.getTables(null, "public", "ids", null));
        catalog("getColumns ids", 2, () -> m.getColumns(null, null, "ids", "%"));
        catalog("getFunctions", 1, () -> m.getFunctions(null, null, "next%"));
        catalog("getFunctionColumns", 2, () -> m.getFunctionColumns(null, null, "next\\_id", "%"));
        catalog("getProcedures", 0, () -> m.getProcedures(null, "public", "next%"));
        catalog("getProcedureColumns", 0, () -> m.getProcedureColumns(null, null, "next\\_id", "%"));
        catalog("getSchemas", 3, m::getSchemas);
        catalog("getCatalogs", 1, m::getCatalogs);
        catalog("getPrimaryKeys", 0, () -> m.getPrimaryKeys(null, null, "ids"));
        catalog("getIndexInfo", 0, () -> m.getIndexInfo(null, null, "ids", false, true));
        catalog("getImportedKeys", 0, () -> m.getImportedKeys(null, null, "ids"));
        catalog("getBestRowIdentifier", 0, () -> m.getBestRowIdentifier(null, null, "ids", 0, true));
        catalog("getTypeInfo", 10, m::getTypeInfo);
        catalog("getTableTypes", 1, m::getTableTypes);
        catalog("getUDTs", 0, () -> m.getUDTs(null, null, "%", null));
        catalog("getTablePrivileges", 0, () -> m.getTablePrivileges(null, null, "ids"));
        catalog("getColumnPrivileges", 0, () -> m.getColumnPrivileges(null, null, "ids", "id"));
        Verdict.check("meta getMaxConnections", () -> String.valueOf(m.getMaxConnections()));
        Verdict.check("meta getMaxColumnNameLength", () -> m.getMaxColumnNameLength() > 0);
        Verdict.check("meta getSQLKeywords", () -> m.getSQLKeywords() != null);
        Verdict.check("meta getDefaultTransactionIsolation",
                () -> m.getDefaultTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
        Verdict.check("meta ResultSetMetaData of ids", () -> {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT id FROM ids WHERE name = 'orders'")) {
                ResultSetMetaData x = r.getMetaData();
                return x.getTableName(1) + " " + x.isNullable(1) + " " + x.isAutoIncrement(1) + " " + x.getColumnTypeName(1);
            }
        });
        Verdict.check("meta ParameterMetaData", () -> {
            try (PreparedStatement s = c.prepareStatement(BOUND)) {
                return s.getParameterMetaData().getParameterTypeName(1) + " " + s.getMetaData().getColumnTypeName(1);
            }
        });
        Verdict.check("meta getObject of a jsonb", () -> {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT parse_id(1::bigint << 40)")) {
                r.next();
                return String.valueOf(r.getObject(1));
            }
        });
    }
}
