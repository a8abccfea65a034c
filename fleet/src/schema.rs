//! The database's tables and who may do what in them.
//!
//! Each host has a role of its own, by whose name the rows that it may see and add are known: nothing that it says names another one. It
//! can change nothing that it has added but its head, and delete nothing but what it holds no more. No role may lock a table: who may
//! update or delete in a whole one could.

use tokio_postgres::Client;

use super::database::DatabaseError;
use super::role_prefix;
use bashgate::fleet::tells::MOST_TELLS;
use bashgate::fleet::wire::{MOST, MOST_CARD};

/// Longest question as its host signs it, in characters: a card as text in text, with what else is said of it.
pub const MOST_QUESTION: usize = 2 * MOST_CARD + (64 << 10);

/// The version of the tables.
pub const VERSION: i32 = 2;

/// So many months have parts of their own for their records from the start; what is older or younger lies in one more part.
const MONTHS: i32 = 24;
/// So many are there in advance for as long as somebody keeps the fleet.
const COMING: i32 = 6;

/// Makes the tables of a new fleet, whole or not at all. The caller must be allowed to make roles, and owns what is made.
pub async fn create(client: &mut Client, fleet: &str, root: &str) -> Result<(), DatabaseError> {
    let transaction = client.transaction().await?;
    let prefix = role_prefix(fleet);
    transaction.batch_execute(&script(&prefix)).await?;
    transaction.batch_execute(&second(&prefix)).await?;
    transaction
        .execute("INSERT INTO bashgate.fleet (id, root, version) VALUES ($1, $2, $3)", &[&fleet, &root, &VERSION])
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Brings the tables of an earlier version up to this one, whole or not at all. Hosts and desks of that version go on with them.
pub async fn upgrade(client: &mut Client, fleet: &str, from: i32) -> Result<(), DatabaseError> {
    let transaction = client.transaction().await?;
    if from < 2 {
        transaction.batch_execute(&second(&role_prefix(fleet))).await?;
    }
    transaction.execute("UPDATE bashgate.fleet SET version = $1", &[&VERSION]).await?;
    transaction.commit().await?;
    Ok(())
}

/// The group of all hosts' roles.
pub fn group(fleet: &str) -> String {
    format!("{}hosts", role_prefix(fleet))
}

/// The group of all desks' roles.
pub fn desks(fleet: &str) -> String {
    format!("{}desks", role_prefix(fleet))
}

/// The fleet that a database holds, by its id and its key, and the version of its tables; `None` where it holds none.
pub async fn held(client: &Client) -> Result<Option<(String, String, i32)>, DatabaseError> {
    let there = client.query_one("SELECT to_regclass('bashgate.fleet') IS NOT NULL", &[]).await?;
    if !there.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client.query_opt("SELECT id, root, version FROM bashgate.fleet", &[]).await?;
    Ok(row.map(|row| (row.get(0), row.get(1), row.get(2))))
}

fn script(prefix: &str) -> String {
    let (group, desks) = (format!("{prefix}hosts"), format!("{prefix}desks"));
    // The prefix has only letters, digits and `_`.
    let own = format!("'{prefix}' || host || '_' || number = current_user");
    let months = months_script(MONTHS);
    let own_desk = format!("'{prefix}' || desk || '_' || desk_number = current_user");
    format!(
        "
        CREATE SCHEMA bashgate;
        CREATE ROLE \"{group}\" NOLOGIN;
        CREATE ROLE \"{desks}\" NOLOGIN;
        GRANT USAGE ON SCHEMA bashgate TO \"{group}\", \"{desks}\";

        -- The one fleet of this database.
        CREATE TABLE bashgate.fleet (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            id text NOT NULL,
            root text NOT NULL,
            version integer NOT NULL
        );
        GRANT SELECT ON bashgate.fleet TO \"{group}\", \"{desks}\";

        -- Hosts and desks: what each says of itself once (key and proof), and what the fleet's key has signed of it.
        CREATE TABLE bashgate.host (
            host text NOT NULL,
            number integer NOT NULL,
            key text,
            proof text,
            member text,
            member_signature text,
            revoked text,
            revoked_signature text,
            PRIMARY KEY (host, number)
        );
        ALTER TABLE bashgate.host ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON bashgate.host FOR SELECT TO \"{group}\" USING ({own});
        CREATE POLICY once ON bashgate.host FOR UPDATE TO \"{group}\" USING ({own} AND key IS NULL) WITH CHECK ({own});
        GRANT SELECT, UPDATE (key, proof) ON bashgate.host TO \"{group}\", \"{desks}\";
        CREATE POLICY seen ON bashgate.host FOR SELECT TO \"{desks}\" USING (true);
        CREATE POLICY once_desk ON bashgate.host FOR UPDATE TO \"{desks}\" USING ({own} AND key IS NULL) WITH CHECK ({own});

        -- Where each host's chain of records begins and ends, as it has signed.
        CREATE TABLE bashgate.head (
            host text NOT NULL,
            number integer NOT NULL,
            start text,
            start_signature text,
            head text NOT NULL,
            head_signature text NOT NULL,
            PRIMARY KEY (host, number)
        );
        ALTER TABLE bashgate.head ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON bashgate.head TO \"{group}\" USING ({own}) WITH CHECK ({own});
        GRANT SELECT, INSERT, UPDATE (head, head_signature) ON bashgate.head TO \"{group}\";

        -- Records, exactly as each host has them. Kind, workspace and request are what the body says, to be looked up by.
        CREATE TABLE bashgate.record (
            host text NOT NULL,
            number integer NOT NULL,
            seq bigint NOT NULL,
            at_ms bigint NOT NULL,
            kind text NOT NULL,
            workspace text,
            request_id text,
            body text NOT NULL,
            hash bytea NOT NULL,
            PRIMARY KEY (host, number, seq, at_ms)
        ) PARTITION BY RANGE (at_ms);
        CREATE INDEX ON bashgate.record (workspace, at_ms) WHERE workspace IS NOT NULL;
        ALTER TABLE bashgate.record ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON bashgate.record FOR SELECT TO \"{group}\" USING ({own});
        CREATE POLICY added ON bashgate.record FOR INSERT TO \"{group}\" WITH CHECK ({own});
        GRANT SELECT, INSERT ON bashgate.record TO \"{group}\";
        -- What is held at each host now, and of late, as each has signed it.
        CREATE TABLE bashgate.question (
            host text NOT NULL,
            number integer NOT NULL,
            id text NOT NULL CHECK (length(id) <= 16),
            text text NOT NULL CHECK (length(text) <= {MOST_QUESTION}),
            signature text NOT NULL CHECK (length(signature) <= 256),
            PRIMARY KEY (host, number, id)
        );
        ALTER TABLE bashgate.question ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON bashgate.question TO \"{group}\" USING ({own}) WITH CHECK ({own});
        CREATE POLICY seen ON bashgate.question FOR SELECT TO \"{desks}\" USING (true);
        GRANT SELECT, INSERT, UPDATE (text, signature) ON bashgate.question TO \"{group}\";
        -- Who may delete from a table may lock it, for everybody.
        CREATE FUNCTION bashgate.forget(named text[], the_others boolean) RETURNS void LANGUAGE sql SECURITY DEFINER
            SET search_path = bashgate, pg_temp
            AS $f$ DELETE FROM bashgate.question WHERE '{prefix}' || host || '_' || number = session_user
                AND (id = ANY (named)) <> the_others $f$;
        REVOKE ALL ON FUNCTION bashgate.forget FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION bashgate.forget TO \"{group}\";
        GRANT SELECT ON bashgate.question TO \"{desks}\";

        -- What was said at each desk to each host, as the desk has signed it, and what the host has signed for a reply.
        CREATE TABLE bashgate.said (
            n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            host text NOT NULL,
            number integer NOT NULL,
            desk text NOT NULL,
            desk_number integer NOT NULL,
            text text NOT NULL CHECK (length(text) <= {MOST}),
            signature text NOT NULL CHECK (length(signature) <= 256),
            reply text CHECK (length(reply) <= {MOST_QUESTION}),
            reply_signature text CHECK (length(reply_signature) <= 256),
            at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX ON bashgate.said (host, number, n) WHERE reply IS NULL;
        ALTER TABLE bashgate.said ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON bashgate.said FOR SELECT TO \"{group}\" USING ({own});
        CREATE POLICY reply ON bashgate.said FOR UPDATE TO \"{group}\" USING ({own} AND reply IS NULL) WITH CHECK ({own});
        GRANT SELECT, UPDATE (reply, reply_signature) ON bashgate.said TO \"{group}\";
        CREATE POLICY desk_own ON bashgate.said FOR SELECT TO \"{desks}\" USING ({own_desk});
        CREATE POLICY desk_says ON bashgate.said FOR INSERT TO \"{desks}\" WITH CHECK ({own_desk} AND reply IS NULL);
        GRANT SELECT, INSERT (host, number, desk, desk_number, text, signature) ON bashgate.said TO \"{desks}\";
        -- What somebody holds on to waits for the next time.
        CREATE FUNCTION bashgate.tidy() RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = bashgate, pg_temp
            AS $f$ DELETE FROM bashgate.said WHERE n IN (
                SELECT n FROM bashgate.said WHERE at < now() - interval '10 minutes' FOR UPDATE SKIP LOCKED) $f$;
        REVOKE ALL ON FUNCTION bashgate.tidy FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION bashgate.tidy TO \"{desks}\";

        -- The desks' channels: which desk speaks in each, until when by this server's clock, and what it has shown there.
        CREATE TABLE bashgate.channel (
            name text PRIMARY KEY,
            holder text NOT NULL DEFAULT '',
            until timestamptz NOT NULL DEFAULT '-infinity',
            memory text NOT NULL DEFAULT ''
        );
        GRANT SELECT, INSERT, UPDATE (holder, until, memory) ON bashgate.channel TO \"{desks}\";

        CREATE TABLE bashgate.record_other PARTITION OF bashgate.record DEFAULT;
        {months}
        "
    )
}

/// Lets the months from this one on have parts of their own, where they have none yet.
pub async fn months(client: &Client) -> Result<(), DatabaseError> {
    Ok(client.batch_execute(&months_script(COMING)).await?)
}

fn months_script(count: i32) -> String {
    format!(
        "
        DO $do$
        DECLARE
            month timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
            next timestamptz;
        BEGIN
            FOR n IN 1..{count} LOOP
                next := (month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
                EXECUTE format(
                    'CREATE TABLE IF NOT EXISTS bashgate.%I PARTITION OF bashgate.record FOR VALUES FROM (%s) TO (%s)',
                    'record_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM'),
                    (extract(epoch FROM month) * 1000)::bigint,
                    (extract(epoch FROM next) * 1000)::bigint
                );
                month := next;
            END LOOP;
        END
        $do$;
        "
    )
}

/// What version 2 adds.
fn second(prefix: &str) -> String {
    let (group, desks) = (format!("{prefix}hosts"), format!("{prefix}desks"));
    let own = format!("'{prefix}' || host || '_' || number = current_user");
    format!(
        "
        ALTER TABLE bashgate.host ADD CONSTRAINT short CHECK (length(key) < 256 AND length(proof) < 256);

        -- What counts in the fleet now, as its key has signed.
        CREATE TABLE bashgate.roll (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            text text NOT NULL,
            signature text NOT NULL,
            members text NOT NULL
        );
        GRANT SELECT ON bashgate.roll TO \"{group}\", \"{desks}\";

        -- Policies, by their numbers. The roll names what they are.
        CREATE TABLE bashgate.policy (number integer PRIMARY KEY, text text NOT NULL);
        GRANT SELECT ON bashgate.policy TO \"{group}\";

        -- Up to where the records of each host were taken away on purpose, as the fleet's key has signed.
        CREATE TABLE bashgate.checkpoint (
            host text NOT NULL,
            number integer NOT NULL,
            text text NOT NULL,
            signature text NOT NULL,
            PRIMARY KEY (host, number)
        );

        -- What each host tells the others, as it has signed.
        CREATE TABLE bashgate.tells (
            host text NOT NULL,
            number integer NOT NULL,
            text text NOT NULL CHECK (length(text) <= {MOST_TELLS}),
            signature text NOT NULL CHECK (length(signature) <= 256),
            PRIMARY KEY (host, number)
        );
        ALTER TABLE bashgate.tells ENABLE ROW LEVEL SECURITY;
        CREATE POLICY seen ON bashgate.tells FOR SELECT TO \"{group}\" USING (true);
        CREATE POLICY own ON bashgate.tells FOR INSERT TO \"{group}\" WITH CHECK ({own});
        CREATE POLICY own_again ON bashgate.tells FOR UPDATE TO \"{group}\" USING ({own}) WITH CHECK ({own});
        GRANT SELECT, INSERT, UPDATE (text, signature) ON bashgate.tells TO \"{group}\";
        "
    )
}
