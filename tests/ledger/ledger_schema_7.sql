-- A ledger of schema 7, as 7f623a1c wrote it. Never change this text.
BEGIN TRANSACTION;
CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, unit TEXT NOT NULL DEFAULT '', shares TEXT NOT NULL DEFAULT '', delta_for TEXT NOT NULL DEFAULT '', PRIMARY KEY (dataset, analyst));
INSERT INTO "discreet_budgets" VALUES('plain','','add_remove','{"epsilon":"4"}','{"epsilon":"1"}','','reserved','');
INSERT INTO "discreet_budgets" VALUES('plain','a','add_remove','{"epsilon":"1"}','{"epsilon":"7/16"}','','','');
INSERT INTO "discreet_budgets" VALUES('people','','add_remove','{"epsilon":"2"}','{"epsilon":"0"}','user_id','reserved','');
CREATE TABLE discreet_events (number INTEGER NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind));
INSERT INTO "discreet_events" VALUES(1,'2026-11-23T21:15:37.236929+00:00','opened','plain','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"shares":"reserved","spent":{"epsilon":"0"},"total":{"epsilon":"4"}}],"neighbors":"add_remove","shares":"reserved","total":{"epsilon":"4"}}','ea1bb445f6e6f8c0f5eb7c1b5573da71d7def914bdd9b45d17c61118728fe4f2');
INSERT INTO "discreet_events" VALUES(2,'2026-11-23T21:15:37.247355+00:00','opened','plain','a',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":null,"shares":"reserved","spent":{"epsilon":"1"},"total":{"epsilon":"4"}},{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"0"},"total":{"epsilon":"1"}}],"neighbors":"add_remove","total":{"epsilon":"1"}}','4e1ef400d76ed5d55da6b9e591148ff4f04268bf2c1792a0bb4e8ba94d026c9e');
INSERT INTO "discreet_events" VALUES(3,'2026-11-23T21:15:37.262206+00:00','charged','plain','a','paid','{"after":[{"neighbors":"add_remove","privacy_unit":null,"shares":"reserved","spent":{"epsilon":"1"},"total":{"epsilon":"4"}},{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"1/4"},"total":{"epsilon":"1"}}],"costs":[{"epsilon":"1/4"}],"digest":"2:abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/4","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","query":"mode of drink, 3 candidates"}','b6db71c70b028e18a4eab28aac18108bb4839e0665f0f80944e4ae086616e13a');
INSERT INTO "discreet_events" VALUES(4,'2026-11-23T21:15:37.266611+00:00','answered','plain','a','paid','{"answer":[5,["0x400000000000000000",0]]}','298311c51f6b5125aab379bb9e17a1b37b95a4cbee5110c9e76dbe2ae1790bee');
INSERT INTO "discreet_events" VALUES(5,'2026-11-23T21:15:37.273665+00:00','charged','plain','a','keys','{"after":[{"neighbors":"add_remove","privacy_unit":null,"shares":"reserved","spent":{"epsilon":"1"},"total":{"epsilon":"4"}},{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"3/8"},"total":{"epsilon":"1"}}],"costs":[{"epsilon":"1/8"}],"digest":"2:abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/8","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","query":"mode of drink, 3 candidates"}','566dd610e3f4d0c37b6556b2c471ae221e1c88af7306abf1cd75c6169ee21b3e');
INSERT INTO "discreet_events" VALUES(6,'2026-11-23T21:15:37.278845+00:00','answered','plain','a','keys','{"answer":[{"text":"Z\u00fcrich"},3]}','9357ae920026283bb93e484584e200349cdc10f85136773ae5fb26d92001a485');
INSERT INTO "discreet_events" VALUES(7,'2026-11-23T21:15:37.285166+00:00','charged','plain','a','charged','{"after":[{"neighbors":"add_remove","privacy_unit":null,"shares":"reserved","spent":{"epsilon":"1"},"total":{"epsilon":"4"}},{"neighbors":"add_remove","privacy_unit":null,"spent":{"epsilon":"7/16"},"total":{"epsilon":"1"}}],"costs":[{"epsilon":"1/16"}],"digest":"2:abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/16","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","query":"mode of drink, 3 candidates"}','83b17239a026594e1af4748b8eb8e467f3caafa45601da3727af3effce0e2cda');
INSERT INTO "discreet_events" VALUES(8,'2026-11-23T21:15:37.289013+00:00','opened','people','',NULL,'{"after":[{"neighbors":"add_remove","privacy_unit":"user_id","shares":"reserved","spent":{"epsilon":"0"},"total":{"epsilon":"2"}}],"neighbors":"add_remove","privacy_unit":"user_id","shares":"reserved","total":{"epsilon":"2"}}','4623099b3014098b1a5ec69f746b60026cf7b6ffeda5ab6c35238499095bfaa6');
CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL);
INSERT INTO "discreet_ledger" VALUES('9b2c731af144462d90351908797b09e8',7,7,8,'4623099b3014098b1a5ec69f746b60026cf7b6ffeda5ab6c35238499095bfaa6');
CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_in_order BEFORE INSERT ON discreet_events
        WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM discreet_events), 0)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE INDEX discreet_described ON discreet_events (dataset, number) WHERE kind = 'described';
CREATE INDEX discreet_latest_whole ON discreet_events (dataset, number) WHERE kind IN ('opened', 'extended', 'shrunk', 'recounted', 'carried', 'charged', 'charged_outside');
CREATE INDEX discreet_latest_share ON discreet_events (dataset, analyst, number) WHERE kind IN ('opened', 'extended', 'shrunk', 'recounted', 'carried', 'charged', 'charged_outside');
CREATE INDEX discreet_failures ON discreet_events (dataset, analyst, number) WHERE kind IN ('failed', 'reopened');
COMMIT;
