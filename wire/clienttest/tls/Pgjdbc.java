import java.sql.DriverManager;
import java.sql.SQLException;

/** Logs in with the URL in URL and prints one id, or the error. */
class Pgjdbc {
    public static void main(String[] args) {
        try (var conn = DriverManager.getConnection(System.getenv("URL"));
                var rows = conn.createStatement().executeQuery("SELECT next_id('orders')")) {
            rows.next();
            System.out.println("id " + rows.getLong(1));
        } catch (SQLException e) {
            System.out.println(e.getMessage());
            System.exit(1);
        }
    }
}
