import com.mchange.v2.c3p0.ComboPooledDataSource;

class Main {
    public static void main(String[] args) throws Exception {
        System.setProperty("com.mchange.v2.log.MLog", "com.mchange.v2.log.FallbackMLog");
        System.setProperty("com.mchange.v2.log.FallbackMLog.DEFAULT_CUTOFF_LEVEL", "OFF");
        ComboPooledDataSource pool = new ComboPooledDataSource();
        pool.setDriverClass("org.postgresql.Driver");
        pool.setJdbcUrl(Verdict.url());
        pool.setUser(Verdict.user());
        pool.setPassword(Verdict.password());
        pool.setMaxPoolSize(1);
        pool.setMinPoolSize(1);
        pool.setInitialPoolSize(1);
        pool.setMaxStatements(10);
        pool.setPreferredTestQuery("SELECT 1");
        pool.setTestConnectionOnCheckout(true);
        Pool.check(pool);
        pool.close();
        Verdict.done();
    }
}
