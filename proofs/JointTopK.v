(* The loss of an ordered list, docs/reference/mechanisms/top_k.md#joint_top_k: how far, at worst, a place is behind the candidate
   that should be there. Candidates are 0, ..., n - 1, and c j is the score of j; places of a list are 0, ..., k - 1. *)

From Coq Require Import ZArith List Lia.
From Discreet Require Import Records.
Import ListNotations.
Open Scope Z_scope.

Definition reach (n : nat) (c : nat -> Z) (t : Z) : Z := tally (fun j => t <=? c j) (seq 0 n).

(* The largest t that i + 1 scores reach: the score that should be at place i. *)
Definition at_place (n : nat) (c : nat -> Z) (i : nat) (t : Z) : Prop :=
  reach n c (t + 1) < Z.of_nat i + 1 <= reach n c t.

(* v is the loss of the list s. *)
Definition loss (n k : nat) (c : nat -> Z) (s : nat -> nat) (v : Z) : Prop :=
  (forall i t, (i < k)%nat -> at_place n c i t -> t - c (s i) <= v) /\
  (exists i t, (i < k)%nat /\ at_place n c i t /\ v = t - c (s i)).

Definition list_of (n k : nat) (s : nat -> nat) : Prop :=
  (0 < k <= n)%nat /\ forall i, (i < k)%nat -> (s i < n)%nat.

(* From c to c' each score changes by a at least and by a + D at most. *)
Definition moved (n : nat) (a D : Z) (c c' : nat -> Z) : Prop :=
  forall j, (j < n)%nat -> a <= c' j - c j <= a + D.

Lemma tally_seq : forall n test, 0 <= tally test (seq 0 n) <= Z.of_nat n.
Proof.
  intros n test. split; [apply tally_nonneg|]. rewrite <- (seq_length n 0) at 2. rewrite <- total_length.
  apply tally_le. reflexivity.
Qed.

Lemma reach_falls :
  forall n c c' t t', (forall j, (j < n)%nat -> t <= c j -> t' <= c' j) -> reach n c t <= reach n c' t'.
Proof.
  intros n c c' t t' implied. apply tally_le. intros j inside. apply in_seq in inside.
  intros reached. apply Z.leb_le in reached. apply Z.leb_le. apply implied; [lia|exact reached].
Qed.

Lemma bounded : forall n (c : nat -> Z), exists b, 0 <= b /\ forall j, (j < n)%nat -> - b <= c j <= b.
Proof.
  induction n as [|n IH]; intros c; [exists 0; split; [lia|intros; lia]|].
  destruct (IH c) as [b [b0 all]]. exists (b + Z.abs (c n)). split; [lia|].
  intros j less. destruct (Nat.eq_dec j n) as [->|before]; [lia|]. specialize (all j ltac:(lia)). lia.
Qed.

Lemma at_place_exists : forall n c i, (i < n)%nat -> exists t, at_place n c i t.
Proof.
  intros n c i less. destruct (bounded n c) as [b [b0 all]].
  assert (search : forall d : nat, reach n c (- b + Z.of_nat d) < Z.of_nat i + 1 -> exists t, at_place n c i t).
  { induction d as [|d IH]; intros few.
    - assert (everyone : Z.of_nat n <= reach n c (- b + Z.of_nat 0)).
      { rewrite <- (seq_length n 0) at 1. rewrite <- total_length. apply tally_le.
        intros j inside _. apply in_seq in inside. apply Z.leb_le. specialize (all j ltac:(lia)). lia. }
      lia.
    - destruct (Z.lt_ge_cases (reach n c (- b + Z.of_nat d)) (Z.of_nat i + 1)) as [still|enough]; [exact (IH still)|].
      exists (- b + Z.of_nat d). split; [|lia]. replace (- b + Z.of_nat d + 1) with (- b + Z.of_nat (S d)) by lia. exact few. }
  apply (search (Z.to_nat (2 * b + 1))). rewrite Z2Nat.id by lia.
  assert (nobody : reach n c (- b + (2 * b + 1)) <= reach n c (b + 1)) by (apply reach_falls; intros; lia).
  assert (none : reach n c (b + 1) <= 0).
  { unfold reach. rewrite (tally_ext _ _ (fun _ => false)).
    - clear. induction (seq 0 n); cbn [tally]; lia.
    - intros j inside. apply in_seq in inside. apply Z.leb_gt. specialize (all j ltac:(lia)). lia. }
  lia.
Qed.

Lemma place_moves :
  forall n a D c c' i t t', moved n a D c c' -> at_place n c i t -> at_place n c' i t' -> a <= t' - t <= a + D.
Proof.
  intros n a D c c' i t t' change [above here] [above' here']. split.
  - destruct (Z.le_gt_cases (t + a) t') as [fine|less]; [lia|].
    assert (reach n c t <= reach n c' (t' + 1))
      by (apply reach_falls; intros j inside reached; specialize (change j inside); lia). lia.
  - destruct (Z.le_gt_cases t' (t + a + D)) as [fine|less]; [lia|].
    assert (reach n c' t' <= reach n c (t + 1))
      by (apply reach_falls; intros j inside reached; specialize (change j inside); lia). lia.
Qed.

(* No loss moves by more than the spread of the scores, whichever way. *)
Theorem loss_moves :
  forall n k a D c c' s v v', list_of n k s -> moved n a D c c' ->
    loss n k c s v -> loss n k c' s v' -> - D <= v' - v <= D.
Proof.
  intros n k a D c c' s v v' [some inside] change [most [i [t [less [here value]]]]] [most' [j [t' [less' [here' value']]]]].
  split.
  - destruct (at_place_exists n c' i ltac:(lia)) as [u there]. specialize (most' i u less there).
    pose proof (place_moves n a D c c' i t u change here there). specialize (change (s i) (inside i less)). lia.
  - destruct (at_place_exists n c j ltac:(lia)) as [u there]. specialize (most j u less' there).
    pose proof (place_moves n a D c c' j u t' change there here'). specialize (change (s j) (inside j less')). lia.
Qed.

Theorem joint_top_k_spread :
  forall n k a D c c' s r v v' w w', list_of n k s -> list_of n k r -> moved n a D c c' ->
    loss n k c s v -> loss n k c' s v' -> loss n k c r w -> loss n k c' r w' ->
    (v' - v) - (w' - w) <= 2 * D.
Proof.
  intros n k a D c c' s r v v' w w' one other change old new old' new'.
  pose proof (loss_moves n k a D c c' s v v' one change old new).
  pose proof (loss_moves n k a D c c' r w w' other change old' new'). lia.
Qed.

(* Lists of one place: the score that should be there is the same for all. *)
Theorem joint_top_one_spread :
  forall n a D c c' s r v v' w w', list_of n 1 s -> list_of n 1 r -> moved n a D c c' ->
    loss n 1 c s v -> loss n 1 c' s v' -> loss n 1 c r w -> loss n 1 c' r w' ->
    (v' - v) - (w' - w) <= D.
Proof.
  intros n a D c c' s r v v' w w' [_ inside_s] [_ inside_r] change
    [most_v [i [t [less [here ->]]]]] [most_v' [i' [t' [less' [here' ->]]]]]
    [most_w [j [u [jess [there ->]]]]] [most_w' [j' [u' [jess' [there' ->]]]]].
  replace i with 0%nat in * by lia. replace i' with 0%nat in * by lia.
  replace j with 0%nat in * by lia. replace j' with 0%nat in * by lia.
  specialize (most_v 0%nat u ltac:(lia) there). specialize (most_w 0%nat t ltac:(lia) here).
  specialize (most_v' 0%nat u' ltac:(lia) there'). specialize (most_w' 0%nat t' ltac:(lia) here').
  pose proof (change (s 0%nat) (inside_s 0%nat ltac:(lia))).
  pose proof (change (r 0%nat) (inside_r 0%nat ltac:(lia))). lia.
Qed.

(* ---- A row that holds q gives way to one that holds p ---- *)

Definition exchanged (p q : nat) (c c' : nat -> Z) : Prop :=
  p <> q /\ c' p = c p + 1 /\ c' q = c q - 1 /\ forall j, j <> p -> j <> q -> c' j = c j.

Lemma tally_less :
  forall A (few many : A -> bool) l, tally few l < tally many l ->
    exists x, In x l /\ few x = false /\ many x = true.
Proof.
  intros A few many l. induction l as [|x l IH]; cbn [tally]; intros less; [lia|].
  destruct (few x) eqn:one, (many x) eqn:other;
    try (exists x; split; [left; reflexivity|split; assumption]);
    destruct IH as [y [inside both]]; try lia; exists y; split; auto; right; exact inside.
Qed.

Lemma loss_nonneg : forall n k c s v, list_of n k s -> loss n k c s v -> 0 <= v.
Proof.
  intros n k c s v [some inside] [most _]. destruct (at_place_exists n c 0 ltac:(lia)) as [t here].
  specialize (most 0%nat t ltac:(lia) here).
  assert (c (s 0%nat) <= t); [|lia].
  destruct (Z.le_gt_cases (c (s 0%nat)) t) as [le|less]; [exact le|]. destruct here as [none _].
  assert (one : tally (fun j => Nat.eqb j (s 0%nat)) (seq 0 n) <= reach n c (t + 1)).
  { apply tally_le. intros j _ same. apply Nat.eqb_eq in same. subst j. apply Z.leb_le. lia. }
  assert (there : In (s 0%nat) (seq 0 n)) by (apply in_seq; specialize (inside 0%nat ltac:(lia)); lia).
  apply in_split in there. destruct there as [a [b parts]]. rewrite parts, tally_app, tally_cons, Nat.eqb_refl in one.
  pose proof (tally_nonneg _ (fun j => Nat.eqb j (s 0%nat)) a).
  pose proof (tally_nonneg _ (fun j => Nat.eqb j (s 0%nat)) b). lia.
Qed.

Lemma exchanged_moves : forall n p q c c', exchanged p q c c' -> moved n (-1) 2 c c'.
Proof.
  intros n p q c c' [other [up [down same]]] j _.
  destruct (Nat.eq_dec j p) as [->|not_p]; [lia|]. destruct (Nat.eq_dec j q) as [->|not_q]; [lia|].
  rewrite (same j not_p not_q). lia.
Qed.

(* Where a loss falls by 2, the score of q is 2 above that of p. *)
Lemma falls_by_two :
  forall n k p q c c' s v v', list_of n k s -> exchanged p q c c' ->
    loss n k c s v -> loss n k c' s v' -> v' <= v - 2 -> c p + 2 <= c q.
Proof.
  intros n k p q c c' s v v' lists change [most [i [t [less [here value]]]]] new two.
  pose proof (loss_nonneg n k c' s v' lists new) as nonneg. destruct new as [most' _].
  pose proof (exchanged_moves n p q c c' change) as moves. destruct lists as [some inside].
  destruct (at_place_exists n c' i ltac:(lia)) as [t' there]. specialize (most' i t' less there).
  pose proof (place_moves n (-1) 2 c c' i t t' moves here there).
  pose proof (moves (s i) (inside i less)).
  assert (up : c' (s i) = c (s i) + 1 /\ t' = t - 1) by lia. destruct up as [up fell]. subst t'.
  destruct change as [other [plus [minus same]]].
  assert (is_p : s i = p).
  { destruct (Nat.eq_dec (s i) p) as [yes|no]; [exact yes|].
    destruct (Nat.eq_dec (s i) q) as [is_q|not_q]; [rewrite is_q in *; lia|]. rewrite (same (s i) no not_q) in up. lia. }
  assert (fewer : reach n c' t < reach n c t).
  { destruct here as [_ enough]. destruct there as [few _]. replace (t - 1 + 1) with t in few by lia. lia. }
  destruct (tally_less _ _ _ _ fewer) as [j [_ [gone was]]].
  apply Z.leb_gt in gone. apply Z.leb_le in was.
  assert (is_q : j = q).
  { destruct (Nat.eq_dec j q) as [yes|no]; [exact yes|].
    destruct (Nat.eq_dec j p) as [-> |not_p]; [lia|]. rewrite (same j not_p no) in gone. lia. }
  subst j. rewrite is_p in *. lia.
Qed.

Theorem joint_top_k_replace_one :
  forall n k p q c c' s r v v' w w', list_of n k s -> list_of n k r -> exchanged p q c c' ->
    loss n k c s v -> loss n k c' s v' -> loss n k c r w -> loss n k c' r w' ->
    (v' - v) - (w' - w) <= 3.
Proof.
  intros n k p q c c' s r v v' w w' one other change old new old' new'.
  pose proof (exchanged_moves n p q c c' change) as moves.
  pose proof (loss_moves n k (-1) 2 c c' s v v' one moves old new).
  pose proof (loss_moves n k (-1) 2 c c' r w w' other moves old' new').
  destruct (Z.le_gt_cases ((v' - v) - (w' - w)) 3) as [fine|more]; [exact fine|exfalso].
  pose proof (falls_by_two n k p q c c' r w w' other change old' new' ltac:(lia)) as first.
  assert (back : exchanged q p c' c).
  { destruct change as [unlike [plus [minus same]]]. split; [auto|split; [lia|split; [lia|]]].
    intros j not_q not_p. symmetry. apply same; assumption. }
  pose proof (falls_by_two n k q p c' c s v' v one back new old ltac:(lia)) as second.
  destruct change as [_ [plus [minus _]]]. lia.
Qed.
