// Processes the messages of an inbox with Spring's JdbcTemplate: java -cp 'postgresql.jar:spring/*' WorkerSpring.java URL INBOX

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

public class WorkerSpring {
    static final int BATCH = 20; // the most messages of a transaction
    static final int PAUSE = 50; // milliseconds between claims that find nothing

    record Message(String id, String payload) {}

    interface Handler {
        void handle(JdbcTemplate jdbc, Message message);
    }

    static volatile boolean stopped = false;

    final JdbcTemplate jdbc;
    final TransactionTemplate transaction;
    final TransactionTemplate savepoint; // within a transaction

    WorkerSpring(DataSource source) {
        var manager = new JdbcTransactionManager(source);
        jdbc = new JdbcTemplate(source);
        transaction = new TransactionTemplate(manager);
        savepoint = new TransactionTemplate(manager);
        savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED); // as @Transactional(propagation = NESTED) does
    }

    /** Works until the process is asked to stop, and then finishes the batch at hand. The source connects again where a connection is lost. */
    void run(String inbox, Handler handler) throws InterruptedException {
        while (!stopped) {
            try {
                if (batch(inbox, handler) == 0) {
                    Thread.sleep(PAUSE);
                }
            } catch (DataAccessException | TransactionException failure) { // nothing of the batch was done: the messages are claimed again
                System.err.println("a batch was rolled back: " + failure.getMessage());
                Thread.sleep(1000);
            }
        }
    }

    /** Claims, works and marks in one transaction. Returns the number of messages claimed. */
    int batch(String inbox, Handler handler) {
        return transaction.execute(status -> {
            List<Message> messages = jdbc.query("select event_id, payload::text from pgtrickle.inbox_claim(?, ?)",
                (row, number) -> new Message(row.getString(1), row.getString(2)), inbox, BATCH);
            for (Message m : messages) {
                try { // the savepoint takes back the work of a message that fails, and keeps its claim
                    savepoint.executeWithoutResult(nested -> handler.handle(jdbc, m));
                } catch (RuntimeException failure) {
                    jdbc.queryForList("select pgtrickle.inbox_mark_failed(?, ?, ?)", inbox, m.id(), String.valueOf(failure.getMessage()));
                    continue;
                }
                jdbc.queryForList("select pgtrickle.inbox_mark_processed(?, ?)", inbox, m.id());
            }
            return messages.size();
        });
    }

    static final Pattern ORDER = Pattern.compile("\"order_id\": \"([^\"]*)\"");

    static void ship(JdbcTemplate jdbc, Message m) {
        Matcher order = ORDER.matcher(m.payload());
        if (!order.find()) {
            throw new IllegalArgumentException("no order_id");
        }
        jdbc.update("insert into shipments (event_id, order_id) values (hashtext(?), ?)", m.id(), order.group(1));
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread worker = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopped = true;
            try {
                worker.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(0); // it was asked to stop, and did
        }));
        var source = new DriverManagerDataSource(arguments[0]); // opens a connection for each transaction; an application has a pool
        new WorkerSpring(source).run(arguments[1], WorkerSpring::ship);
    }
}
