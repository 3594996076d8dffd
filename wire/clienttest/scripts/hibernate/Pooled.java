import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.SequenceGenerator;

/** An entity of which each call of a sequence that nobody created makes fifty; it is never written. */
@Entity
public class Pooled {
    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "pooled")
    @SequenceGenerator(name = "pooled", sequenceName = "hibernate_pooled", allocationSize = 50)
    Long id;
}
