import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Hostile values through a JDBC driver that puts them into the text; see main.py. */
class Main {
    static String one(Connection c, String sql, String value) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            s.setString(1, value);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                return r.getString(1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        String protocol = System.getenv("PROTOCOL");
        String options = protocol.equals("mysql") ? "?useServerPrepStmts=false" : "?preferQueryMode=simple";
        String url = "jdbc:" + args[0] + "://" + System.getenv("HOST") + ":" + System.getenv("PORT") + "/"
                + (protocol.equals("mysql") ? "" : System.getenv("DB")) + options;
        Connection c = DriverManager.getConnection(url, System.getenv("USER"), System.getenv("PASSWORD"));
        List<String> values = Files.readAllLines(Path.of("values"));
        int i = 0;
        for (String setting : Files.readAllLines(Path.of("settings-" + protocol))) {
            try (Statement s = c.createStatement()) {
                s.execute(setting);
            } catch (SQLException e) {
                System.out.println(i++ + " refused: " + setting);
                continue;
            }
            for (int j = 0; j < values.size(); j++) {
                String value = URLDecoder.decode(values.get(j), StandardCharsets.UTF_8);
                try {
                    StringBuilder hex = new StringBuilder();
                    for (byte b : one(c, "SELECT ?", value).getBytes(StandardCharsets.UTF_8)) {
                        hex.append(String.format("%02x", b));
                    }
                    System.out.println(i + " " + j + " " + hex + " " + one(c,
                            "SELECT count(*) FROM (SELECT 'a' AS name UNION SELECT 'b' UNION SELECT 'plain') AS t WHERE name = ?", value));
                } catch (SQLException e) {
                    System.out.println(i + " " + j + " error");
                }
            }
            i++;
        }
    }
}
