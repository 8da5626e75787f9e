-- A ledger of schema 4, as 3d1894d wrote it: two budgets about one table, and two of which nobody can tell. Never change this text.
BEGIN TRANSACTION;
CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, unit TEXT NOT NULL DEFAULT '', PRIMARY KEY (dataset, analyst));
INSERT INTO "discreet_budgets" VALUES('people','','add_remove','{"epsilon":"2"}','{"epsilon":"1"}','');
INSERT INTO "discreet_budgets" VALUES('people_again','','add_remove','{"epsilon":"3"}','{"epsilon":"1/2"}','');
INSERT INTO "discreet_budgets" VALUES('visits','','add_remove','{"epsilon":"1"}','{"epsilon":"1/4"}','');
INSERT INTO "discreet_budgets" VALUES('orders','','add_remove','{"epsilon":"1"}','{"epsilon":"0"}','');
INSERT INTO "discreet_budgets" VALUES('customers','','add_remove','{"epsilon":"1"}','{"epsilon":"0"}','');
CREATE TABLE discreet_events (number INTEGER NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind));
INSERT INTO "discreet_events" VALUES(1,'2026-11-22T20:44:45.730819+00:00','opened','people','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"2"}}],"neighbors":"add_remove","total":{"epsilon":"2"}}','886535600313453a0c1a46bc6d2e2609b69f25fc770ecc4b6127369a1d5e063d');
INSERT INTO "discreet_events" VALUES(2,'2026-11-22T20:44:45.742229+00:00','described','people','',NULL,'{"columns":["age: integer 0 to 120"],"digest":"2:95ca5be8d4818b510471cf55702b300b24333002436647b645be53539c9fcbca","max_contributions":null,"name":"people","privacy_unit":null,"source":{"connection":"postgresql+psycopg://alice@db.example/shop","query":"SELECT age FROM people"}}','cad47e8916368993cb8c625a8528f6ea1aafdb53b878be2b6a2bd3387cb0832b');
INSERT INTO "discreet_events" VALUES(3,'2026-11-22T20:44:46.269808+00:00','opened','people_again','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"3"}}],"neighbors":"add_remove","total":{"epsilon":"3"}}','fae79d7f04e6d4a4e0beaeddd5ff92965827f888e8efc539bc4cc5bac8a9a430');
INSERT INTO "discreet_events" VALUES(4,'2026-11-22T20:44:46.275013+00:00','described','people_again','',NULL,'{"columns":["age: integer 0 to 120"],"digest":"2:f72f6772e2db62b9ddfd633cca942006dadd54fd6e5b654760601cfbe2de54c9","max_contributions":null,"name":"people_again","privacy_unit":null,"source":{"connection":"postgresql+psycopg://bob@DB.example:5432/shop?sslmode=require","query":"WITH q AS (SELECT * FROM people) SELECT * FROM q"}}','366b95b167a59c258630731708c1d6be0c284a465291d1ac72632b5db9185d65');
INSERT INTO "discreet_events" VALUES(5,'2026-11-22T20:44:46.344644+00:00','opened','visits','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"1"}}],"neighbors":"add_remove","total":{"epsilon":"1"}}','fd9a57fae0bf28ab1724e78d5e46bffb0eb6237627f685234fd1666176e21d71');
INSERT INTO "discreet_events" VALUES(6,'2026-11-22T20:44:46.345649+00:00','described','visits','',NULL,'{"columns":["age: integer 0 to 120"],"digest":"2:26282b3ab5f8b24d729e5498329a3372a2bfed3785f42118be1d068b495dfbf6","max_contributions":null,"name":"visits","privacy_unit":null,"source":{"connection":"postgresql+psycopg://alice@db.example/shop","query":"SELECT age FROM visits"}}','1c16ccf5a3bc43249d77b677e64dfa292bf235f8669135d5db8f4f9ee022022c');
INSERT INTO "discreet_events" VALUES(7,'2026-11-22T20:44:46.434465+00:00','opened','orders','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"1"}}],"neighbors":"add_remove","total":{"epsilon":"1"}}','ccdf39b7ea8c4da603048c7a6e09c72f3c17cd6da82429a5418c226e946222a5');
INSERT INTO "discreet_events" VALUES(8,'2026-11-22T20:44:46.435408+00:00','described','orders','',NULL,'{"columns":["age: integer 0 to 120"],"digest":"2:ab52f6be4b8427a5c88e221745651aa4fc4d70bf0580f86436714ffb8a45ffbb","max_contributions":null,"name":"orders","privacy_unit":null,"source":{"connection":"postgresql+psycopg://alice@db.example/warehouse","query":"SELECT age FROM ONLY orders"}}','0c59a7f06785c4be4c0578f15752de2a7967ce8982a9d782208a82341b4b4beb');
INSERT INTO "discreet_events" VALUES(9,'2026-11-22T20:44:46.522649+00:00','opened','customers','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"1"}}],"neighbors":"add_remove","total":{"epsilon":"1"}}','59d10b00691c2380594285b174b8cebc8b980d3a79a5dce39eccbd15a910608d');
INSERT INTO "discreet_events" VALUES(10,'2026-11-22T20:44:46.524005+00:00','described','customers','',NULL,'{"columns":["age: integer 0 to 120"],"digest":"2:9aa65b5a57f3430c77f09d56802351a82407638187764a7df9384dbbd542b660","max_contributions":null,"name":"customers","privacy_unit":null,"source":{"connection":"postgresql+psycopg://alice@db.example/warehouse","query":"SELECT * FROM \"customers\""}}','9c848e98aa9d43f9841db3f0b348682e4b332143d0948ae9dcd66fe98fc44ad6');
INSERT INTO "discreet_events" VALUES(11,'2026-11-22T20:44:46.605332+00:00','charged_outside','people','','m1','{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"1"},"total":{"epsilon":"2"}}],"costs":[{"epsilon":"1"}],"guarantee":{"epsilon":"1","kind":"pure_dp","neighbors":"add_remove"},"query":"mean age"}','6e13d6848a1f97eaf704fcb54e00ef8e132cea3bb548b5ff50d2b00a05aa384d');
INSERT INTO "discreet_events" VALUES(12,'2026-11-22T20:44:46.664137+00:00','charged_outside','people_again','','m1','{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"1/2"},"total":{"epsilon":"3"}}],"costs":[{"epsilon":"1/2"}],"guarantee":{"epsilon":"1/2","kind":"pure_dp","neighbors":"add_remove"},"query":"mean age"}','1f84c0e008d79700ab6d6d546bf4f3663e29b0b8a2e574ba5394aa4655e11b7d');
INSERT INTO "discreet_events" VALUES(13,'2026-11-22T20:44:46.714889+00:00','charged_outside','visits','','m1','{"after":[{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"1/4"},"total":{"epsilon":"1"}}],"costs":[{"epsilon":"1/4"}],"guarantee":{"epsilon":"1/4","kind":"pure_dp","neighbors":"add_remove"},"query":"mean age"}','cddbff74abec78ade2de9ce8bcc47d150191e9529a5e22e174448bcf0c3a4ff3');
CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL);
INSERT INTO "discreet_ledger" VALUES('4a9faba5c9f848888833f1c0a152f222',4,4,13,'cddbff74abec78ade2de9ce8bcc47d150191e9529a5e22e174448bcf0c3a4ff3');
CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_in_order BEFORE INSERT ON discreet_events
        WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM discreet_events), 0)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE INDEX discreet_latest_whole ON discreet_events (dataset, number) WHERE kind IN ('opened', 'extended', 'carried', 'charged', 'charged_outside');
CREATE INDEX discreet_latest_share ON discreet_events (dataset, analyst, number) WHERE kind IN ('opened', 'extended', 'carried', 'charged', 'charged_outside');
CREATE INDEX discreet_described ON discreet_events (dataset, number) WHERE kind = 'described';
COMMIT;
