import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.SequenceGenerator;

/** An entity of which each call of its sequence makes fifty; it is never written. */
@Entity
public class Invoice {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "pool")
    @SequenceGenerator(name = "pool", sequenceName = "openjpa_invoices", allocationSize = 50)
    private long id;
}
