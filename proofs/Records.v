(* Records, how many of them pass a test, and how far scores of neighbouring datasets are apart.

   A dataset is a list of records; scores look at numbers of records alone, so their order says nothing. *)

From Coq Require Import ZArith List Lia.
Import ListNotations.
Open Scope Z_scope.

(* How many records pass. *)
Fixpoint tally {A : Type} (test : A -> bool) (records : list A) : Z :=
  match records with
  | [] => 0
  | x :: rest => (if test x then 1 else 0) + tally test rest
  end.

Definition total {A : Type} (records : list A) : Z := tally (fun _ => true) records.

(* One record more; one record replaced. *)
Definition more {A : Type} (before after : list A) : Prop :=
  exists a r b, before = a ++ b /\ after = a ++ r :: b.

Definition replaced {A : Type} (before after : list A) : Prop :=
  exists a r s b, before = a ++ r :: b /\ after = a ++ s :: b.

(* The neighbouring relation `add_remove`. *)
Definition one_apart {A : Type} (before after : list A) : Prop :=
  more before after \/ more after before.

(* One privacy unit more, with `rows` records at most; one replaced by another. *)
Definition unit_more {A : Type} (rows : Z) (before after : list A) : Prop :=
  exists a new b, before = a ++ b /\ after = a ++ new ++ b /\ Z.of_nat (length new) <= rows.

Definition unit_replaced {A : Type} (rows : Z) (before after : list A) : Prop :=
  exists a old new b, before = a ++ old ++ b /\ after = a ++ new ++ b /\
    Z.of_nat (length old) <= rows /\ Z.of_nat (length new) <= rows.

(* No score changes by more than `change`, and no difference of two scores by more than `spread`. *)
Definition sensitivity {A C : Type} (neighbours : A -> A -> Prop) (allowed : C -> Prop)
    (score : A -> C -> Z) (change spread : Z) : Prop :=
  forall before after, neighbours before after ->
    (forall c, allowed c -> - change <= score after c - score before c <= change) /\
    (forall c d, allowed c -> allowed d ->
      (score after c - score before c) - (score after d - score before d) <= spread).

(* Between two neighbours all scores move the same way. *)
Definition monotonic {A C : Type} (neighbours : A -> A -> Prop) (allowed : C -> Prop)
    (score : A -> C -> Z) : Prop :=
  forall before after, neighbours before after ->
    (forall c, allowed c -> score before c <= score after c) \/
    (forall c, allowed c -> score after c <= score before c).

Definition any {C : Type} (_ : C) : Prop := True.

Lemma tally_app : forall A test (a b : list A), tally test (a ++ b) = tally test a + tally test b.
Proof. intros A test a b. induction a as [|x a IH]; cbn [tally app]; lia. Qed.

Lemma tally_cons :
  forall A test (x : A) rest, tally test (x :: rest) = (if test x then 1 else 0) + tally test rest.
Proof. reflexivity. Qed.

Lemma tally_nonneg : forall A test (records : list A), 0 <= tally test records.
Proof. intros A test records. induction records as [|x rest IH]; cbn [tally]; [lia|]. destruct (test x); lia. Qed.

Lemma tally_le :
  forall A (narrow wide : A -> bool) records,
    (forall x, In x records -> narrow x = true -> wide x = true) -> tally narrow records <= tally wide records.
Proof.
  intros A narrow wide records implied. induction records as [|x rest IH]; cbn [tally]; [lia|].
  pose proof (IH (fun y inside => implied y (or_intror inside))) as tail.
  pose proof (implied x (or_introl eq_refl)) as head.
  destruct (narrow x), (wide x); lia.
Qed.

Lemma tally_ext :
  forall A (one other : A -> bool) records,
    (forall x, In x records -> one x = other x) -> tally one records = tally other records.
Proof.
  intros A one other records same. induction records as [|x rest IH]; cbn [tally]; [reflexivity|].
  rewrite (same x (or_introl eq_refl)), IH; [reflexivity|]. intros y inside. apply same. now right.
Qed.

Lemma tally_repeat :
  forall A test (x : A) n, tally test (repeat x n) = if test x then Z.of_nat n else 0.
Proof.
  intros A test x n. induction n as [|n IH]; cbn [repeat tally]; [destruct (test x); reflexivity|].
  rewrite IH. destruct (test x); lia.
Qed.

Lemma total_length : forall A (records : list A), total records = Z.of_nat (length records).
Proof.
  intros A records. unfold total. induction records as [|x rest IH]; cbn [tally length]; [reflexivity|]. lia.
Qed.

(* What holds of one record more holds of one less. *)
Lemma sensitivity_both_ways :
  forall A C (allowed : C -> Prop) (score : list A -> C -> Z) change spread,
    sensitivity more allowed score change spread -> sensitivity one_apart allowed score change spread.
Proof.
  intros A C allowed score change spread comes before after [one|one];
    destruct (comes _ _ one) as [each pair]; split; [exact each|exact pair| |].
  - intros c all. specialize (each c all). lia.
  - intros c d allc alld. specialize (pair d c alld allc). lia.
Qed.

Lemma monotonic_both_ways :
  forall A C (allowed : C -> Prop) (score : list A -> C -> Z),
    monotonic more allowed score -> monotonic one_apart allowed score.
Proof.
  intros A C allowed score comes before after [one|one]; destruct (comes _ _ one); auto.
Qed.

(* A bound on each change is a bound of twice that on the spread, and of once that where all move the same way. *)
Lemma sensitivity_of :
  forall A C (neighbours : A -> A -> Prop) (allowed : C -> Prop) (score : A -> C -> Z) change,
    (forall before after, neighbours before after -> forall c, allowed c ->
      - change <= score after c - score before c <= change) ->
    sensitivity neighbours allowed score change (2 * change).
Proof.
  intros A C neighbours allowed score change each before after near.
  split; [exact (each before after near)|]. intros c d allc alld.
  pose proof (each before after near c allc). pose proof (each before after near d alld). lia.
Qed.

Lemma sensitivity_of_monotonic :
  forall A C (neighbours : A -> A -> Prop) (allowed : C -> Prop) (score : A -> C -> Z) change,
    monotonic neighbours allowed score ->
    (forall before after, neighbours before after -> forall c, allowed c ->
      - change <= score after c - score before c <= change) ->
    sensitivity neighbours allowed score change change.
Proof.
  intros A C neighbours allowed score change one_way each before after near.
  split; [exact (each before after near)|]. intros c d allc alld.
  pose proof (each before after near c allc). pose proof (each before after near d alld).
  destruct (one_way before after near) as [up|down].
  - pose proof (up c allc). pose proof (up d alld). lia.
  - pose proof (down c allc). pose proof (down d alld). lia.
Qed.
