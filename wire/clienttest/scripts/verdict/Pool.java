import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import javax.sql.DataSource;

/** What a program does with a connection pool. */
final class Pool {
    private Pool() {}

    /** Borrows a connection twice, changes its state and gives it back to be reset. */
    static void check(DataSource pool) {
        Verdict.check("borrow, change, give back, twice", () -> {
            long[] ids = new long[2];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = borrow(pool);
            }
            return ids;
        });
        Verdict.check("the state of a connection is reset", () -> {
            try (Connection c = pool.getConnection()) {
                return c.getAutoCommit() && c.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED;
            }
        });
        Verdict.check("isValid after a while", () -> {
            try (Connection c = pool.getConnection()) {
                Thread.sleep(700);
                return c.isValid(1);
            }
        });
    }

    private static long borrow(DataSource pool) throws Exception {
        try (Connection c = pool.getConnection();
                PreparedStatement s = c.prepareStatement("SELECT next_id(?)")) {
            c.setAutoCommit(false);
            s.setString(1, "orders");
            long id;
            try (ResultSet r = s.executeQuery()) {
                r.next();
                id = r.getLong(1);
            }
            c.rollback();
            c.setReadOnly(true);
            c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            return id;
        }
    }
}
