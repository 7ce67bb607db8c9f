import org.flywaydb.core.Flyway;

/** Runs all pending migrations: Migrate URL USER DIRECTORY. */
class Migrate {
    public static void main(String[] args) {
        Flyway.configure()
            .dataSource(args[0], args[1], "")
            .locations("filesystem:" + args[2])
            .baselineOnMigrate(true) // the database is not empty
            .baselineVersion("0")
            .load()
            .migrate();
    }
}
