import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

class Main {
    public static void main(String[] args) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(Verdict.url("mariadb"));
        config.setUsername(Verdict.user());
        config.setPassword(Verdict.password());
        config.setMaximumPoolSize(1);
        config.setReadOnly(false);
        config.setCatalog(System.getenv("DB"));
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Pool.check(pool);
        }
        Verdict.done();
    }
}
