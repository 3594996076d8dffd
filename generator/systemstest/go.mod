module nextid/generator/systemstest

go 1.26.0

require github.com/matoous/go-nanoid/v2 v2.1.0 // indirect

require (
	github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c
	github.com/bwmarrin/snowflake v0.3.0
	github.com/gofrs/uuid/v5 v5.3.2
	github.com/google/uuid v1.6.0
	github.com/oklog/ulid/v2 v2.1.1
	github.com/rs/xid v1.6.0
	github.com/segmentio/ksuid v1.0.4
	github.com/sony/sonyflake v1.2.0
	github.com/sony/sonyflake/v2 v2.2.0
	github.com/yitter/idgenerator-go v1.3.3
	go.jetify.com/typeid v1.3.0
	go.mongodb.org/mongo-driver/v2 v2.3.0
	nextid v0.0.0
)

replace nextid => ../..
