import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.SequenceGenerator;

/** An entity whose ids come from a sequence; it is never written. */
@Entity
public class Order {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "orders")
    @SequenceGenerator(name = "orders", sequenceName = "orders", allocationSize = 1)
    Long id;
}
