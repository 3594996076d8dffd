import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Scanner;

/** Logs in with each URL on standard input and prints one line for it: an id, or the error. */
class Jdbc {
    public static void main(String[] args) {
        for (var urls = new Scanner(System.in); urls.hasNextLine(); ) {
            try (var conn = DriverManager.getConnection(urls.nextLine());
                    var rows = conn.createStatement().executeQuery("SELECT next_id('orders')")) {
                rows.next();
                System.out.println("id " + rows.getLong(1));
            } catch (SQLException e) {
                System.out.println(e.getMessage().replace('\n', ' '));
            }
        }
    }
}
