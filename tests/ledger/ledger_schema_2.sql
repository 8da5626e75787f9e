-- A ledger of schema 2, as 55e243f wrote it. Never change this text.
BEGIN TRANSACTION;
CREATE TABLE discreet_budgets (dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    neighbors TEXT NOT NULL, total TEXT NOT NULL, spent TEXT NOT NULL, unit TEXT NOT NULL DEFAULT '', PRIMARY KEY (dataset, analyst));
INSERT INTO "discreet_budgets" VALUES('adult','','add_remove','{"epsilon":"1"}','{"epsilon":"7/12"}','person');
INSERT INTO "discreet_budgets" VALUES('adult','a','add_remove','{"delta":"1/1000000","epsilon":"1/2","rho":"3920464002130897519/590295810358705651712"}','{"epsilon":"1/3","rho":"8123474489192946063/147573952589676412928"}','person');
CREATE TABLE discreet_events (number INTEGER NOT NULL PRIMARY KEY, at TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, request TEXT, body TEXT NOT NULL,
    head TEXT NOT NULL, UNIQUE (dataset, analyst, request, kind));
INSERT INTO "discreet_events" VALUES(1,'2026-02-01T00:00:01.000000+00:00','opened','adult','',NULL,'{"neighbors":"add_remove","privacy_unit":"person","total":{"epsilon":"1"}}','8e27a3ae0f315b89aeebb753e865f5a5e02e2fc84d18ba135e996e390e10f7ef');
INSERT INTO "discreet_events" VALUES(2,'2026-02-01T00:00:02.000000+00:00','opened','adult','a',NULL,'{"neighbors":"add_remove","privacy_unit":"person","total":{"delta":"1/1000000","epsilon":"1/2","rho":"3920464002130897519/590295810358705651712"}}','2f72e91694b8ba762806088ef2d1e5766e793c31ef1636af7c8229848999b24b');
INSERT INTO "discreet_events" VALUES(3,'2026-02-01T00:00:03.000000+00:00','charged','adult','a','r','{"costs":[{"epsilon":"1/3"},{"epsilon":"1/3","rho":"8123474489192946063/147573952589676412928"}],"digest":"abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/3","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","privacy_unit":"person","query":"mode of drink, 3 candidates"}','7d2466230d5ba89ee29e21abb73838eb05671f09fefc24d7ac8ad7459ecfd447');
INSERT INTO "discreet_events" VALUES(4,'2026-02-01T00:00:04.000000+00:00','answered','adult','a','r','{"answer":[1,"0x20000000000000"]}','5f0e304d9932e73b0b8e1e24eb2cf864054570793cc68cb75526f53bc27dc880');
INSERT INTO "discreet_events" VALUES(5,'2026-02-01T00:00:05.000000+00:00','charged','adult','','s','{"costs":[{"epsilon":"1/4"}],"digest":"abababababababababababababababababababababababababababababababab","guarantee":{"epsilon":"1/4","kind":"pure_dp","neighbors":"add_remove"},"mechanism":"exponential","privacy_unit":"person","query":"mode of drink, 3 candidates"}','15fc4a021b5f0d11dc0409a5cc231b5a879e2cbbc961f469901c2e85451062a4');
INSERT INTO "discreet_events" VALUES(6,'2026-02-01T00:00:06.000000+00:00','answered','adult','','s','{"answer":3}','d992ae8142f5b16960701a2ae4d2b43606ab28801dd2584fdb16d162398cf2a6');
CREATE TABLE discreet_ledger (id TEXT NOT NULL PRIMARY KEY, born INTEGER NOT NULL,
    version INTEGER NOT NULL, events BIGINT NOT NULL, head TEXT NOT NULL);
INSERT INTO "discreet_ledger" VALUES('6f1c',2,2,6,'d992ae8142f5b16960701a2ae4d2b43606ab28801dd2584fdb16d162398cf2a6');
CREATE TRIGGER discreet_no_update BEFORE UPDATE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_no_delete BEFORE DELETE ON discreet_events
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER discreet_in_order BEFORE INSERT ON discreet_events
        WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM discreet_events), 0)
        BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
COMMIT;
