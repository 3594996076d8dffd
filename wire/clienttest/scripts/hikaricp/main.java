import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

class Main {
    public static void main(String[] args) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(Verdict.url(Verdict.MYSQL ? "mariadb" : "postgresql"));
        config.setUsername(Verdict.user());
        config.setPassword(Verdict.password());
        config.setMaximumPoolSize(1);
        config.setReadOnly(false);
        if (Verdict.MYSQL) {
            config.setCatalog(System.getenv("DB"));
        } else {
            config.setSchema("public");
        }
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Pool.check(pool);
        }
        Verdict.done();
    }
}
