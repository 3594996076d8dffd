import javax.persistence.Entity;
import javax.persistence.Id;
import javax.persistence.Table;

/** The table ids: reading the row of a name draws an id. */
@Entity
@Table(name = "ids")
public class Ids {
    @Id
    String name;

    Long id;
}
