(* The score of quantiles, docs/reference/scores/of_tables.md#rank: for alpha = p / q it is the lesser of p n - q L and
   q (L + E) - p n, where n is the number of records, L of them are below the candidate and E are equal to it. *)

From Coq Require Import ZArith List Lia.
From Discreet Require Import Records.
Import ListNotations.
Open Scope Z_scope.

Definition below (c x : Z) : bool := x <? c.
Definition equal (c x : Z) : bool := x =? c.
Definition above (c x : Z) : bool := c <? x.

Definition rank_score (p q : Z) (records : list Z) (c : Z) : Z :=
  Z.min (p * total records - q * tally (below c) records)
        (q * (tally (below c) records + tally (equal c) records) - p * total records).

(* Splits all comparisons of a record with a candidate. *)
Ltac compare_records :=
  unfold below, equal, above, total in *;
  repeat rewrite ?tally_app, ?tally_cons in *;
  repeat match goal with
  | |- context [?x <? ?c] => destruct (Z.ltb_spec x c)
  | |- context [?x =? ?c] => destruct (Z.eqb_spec x c)
  end.

Lemma three_sides :
  forall c records, total records = tally (below c) records + tally (equal c) records + tally (above c) records.
Proof.
  intros c records. unfold total. induction records as [|x rest IH]; cbn [tally]; [reflexivity|].
  compare_records; lia.
Qed.

(* ---- One record more, less, or replaced ---- *)

Theorem rank_add_remove :
  forall p q, 0 < p < q ->
    sensitivity one_apart any (rank_score p q) (Z.max p (q - p)) (2 * Z.max p (q - p)).
Proof.
  intros p q between. apply sensitivity_both_ways, sensitivity_of.
  intros before after [a [r [b [one two]]]] c _. subst. unfold rank_score. compare_records; lia.
Qed.

Theorem rank_replace_one :
  forall p q, 0 < p < q -> sensitivity replaced any (rank_score p q) q (2 * q).
Proof.
  intros p q between. apply sensitivity_of.
  intros before after [a [r [s [b [one two]]]]] c _. subst. unfold rank_score. compare_records; lia.
Qed.

(* alpha = 0 (p = 0, q = 1) and alpha = 1 (p = q = 1). *)
Definition end_of_range (p q : Z) : Prop := q = 1 /\ (p = 0 \/ p = 1).

Theorem rank_at_the_ends_is_monotonic :
  forall p q, end_of_range p q ->
    monotonic one_apart any (rank_score p q) /\ monotonic replaced any (rank_score p q).
Proof.
  intros p q [-> [-> | ->]]; (split; [apply monotonic_both_ways|]).
  - intros before after [a [r [b [one two]]]]. subst. right. intros c _.
    pose proof (tally_nonneg Z (below c) (a ++ b)). pose proof (tally_nonneg Z (equal c) (a ++ b)).
    unfold rank_score. compare_records; lia.
  - intros before after [a [r [s [b [one two]]]]]. subst.
    destruct (Z.le_ge_cases r s) as [up|down]; [left|right]; intros c _;
      pose proof (tally_nonneg Z (below c) (a ++ b)); pose proof (tally_nonneg Z (equal c) (a ++ b));
      unfold rank_score; compare_records; lia.
  - intros before after [a [r [b [one two]]]]. subst. right. intros c _.
    pose proof (tally_nonneg Z (equal c) (a ++ b)). pose proof (three_sides c (a ++ b)).
    pose proof (tally_nonneg Z (above c) (a ++ b)).
    unfold rank_score. compare_records; lia.
  - intros before after [a [r [s [b [one two]]]]]. subst.
    destruct (Z.le_ge_cases r s) as [up|down]; [right|left]; intros c _;
      pose proof (tally_nonneg Z (equal c) (a ++ b)); pose proof (three_sides c (a ++ b));
      pose proof (tally_nonneg Z (above c) (a ++ b));
      unfold rank_score; compare_records; lia.
Qed.

Theorem rank_at_the_ends :
  forall p q, end_of_range p q ->
    sensitivity one_apart any (rank_score p q) 1 1 /\ sensitivity replaced any (rank_score p q) 1 1.
Proof.
  intros p q ends. destruct (rank_at_the_ends_is_monotonic p q ends) as [one other].
  destruct ends as [-> [-> | ->]]; split; (apply sensitivity_of_monotonic; [assumption|]).
  1, 3: intros before after near c _; destruct near as [[a [r [b [-> ->]]]]|[a [r [b [-> ->]]]]].
  5, 6: intros before after [a [r [s [b [-> ->]]]]] c _.
  all: pose proof (tally_nonneg Z (below c) (a ++ b)); pose proof (tally_nonneg Z (equal c) (a ++ b));
    pose proof (three_sides c (a ++ b)); pose proof (tally_nonneg Z (above c) (a ++ b));
    unfold rank_score; compare_records; lia.
Qed.

(* Both numbers are reached, for every alpha. *)
Definition copies (k x : Z) : list Z := repeat x (Z.to_nat k).

Lemma tally_copies : forall test k x, 0 <= k -> tally test (copies k x) = if test x then k else 0.
Proof. intros test k x k0. unfold copies. rewrite tally_repeat, Z2Nat.id by lia. reflexivity. Qed.

Lemma more_head : forall (r : Z) rest, more rest (r :: rest).
Proof. intros r rest. exists [], r, rest. split; reflexivity. Qed.

Theorem rank_add_remove_is_tight :
  forall p q, 0 < p < q -> exists before after c d, more before after /\
    (rank_score p q after c - rank_score p q before c) -
      (rank_score p q after d - rank_score p q before d) = 2 * Z.max p (q - p).
Proof.
  intros p q between. destruct (Z.le_ge_cases (q - p) p) as [much|little].
  - exists (copies p 0), (2 :: copies p 0), 1, (-1). split; [apply more_head|].
    assert (p * (p + 1) <= q * p) by nia.
    unfold rank_score, total, below, equal. rewrite !tally_cons, !tally_copies by lia.
    cbn [Z.ltb Z.eqb Z.compare Pos.compare Pos.compare_cont Pos.eqb CompOpp]. lia.
  - exists (copies (q - p) 0), (-2 :: copies (q - p) 0), (-1), 1. split; [apply more_head|].
    assert (0 <= p * (q - p)) by nia. assert (q <= p * (q - p + 1)) by nia.
    assert (p * (q - p) <= q * (q - p)) by nia.
    assert (p * (q - p + 1) <= q * (q - p + 1)) by nia.
    unfold rank_score, total, below, equal. rewrite !tally_cons, !tally_copies by lia.
    cbn [Z.ltb Z.eqb Z.compare Pos.compare Pos.compare_cont Pos.eqb CompOpp]. lia.
Qed.

Theorem rank_replace_one_is_tight :
  forall p q, 0 < p < q -> exists before after c d, replaced before after /\
    (rank_score p q after c - rank_score p q before c) -
      (rank_score p q after d - rank_score p q before d) = 2 * q.
Proof.
  intros p q between.
  exists (0 :: copies (p + q) 5), (10 :: copies (p + q) 5), 9, 1.
  split; [exists [], 0, 10, (copies (p + q) 5); split; reflexivity|].
  assert (p * (p + q + 1) <= q * (p + q)) by nia. assert (q <= p * (p + q + 1)) by nia.
  unfold rank_score, total, below, equal. rewrite !tally_cons, !tally_copies by lia.
    cbn [Z.ltb Z.eqb Z.compare Pos.compare Pos.compare_cont Pos.eqb CompOpp]. lia.
Qed.

(* ---- The cut of recursive quantiles ----

   Each point is divided into `parts`; part k of a point with E records has floor(k (E + 1) / parts) of them below it. *)

Definition cut_off (parts k E : Z) : Z := k * (E + 1) / parts.

Definition rank_of_cut (parts : Z) (records : list Z) (v k : Z) : Z :=
  tally (below v) records + cut_off parts k (tally (equal v) records).

(* (q - p) B - p A, with B records below the part and A above it, is q B - p n. *)
Definition cut_score (parts p q : Z) (records : list Z) (part : Z * Z) : Z :=
  let (v, k) := part in - Z.abs (q * rank_of_cut parts records v k - p * total records).

Definition is_part (parts : Z) (part : Z * Z) : Prop := 0 <= snd part < parts.

Lemma cut_off_within : forall parts k E, 0 <= k < parts -> 0 <= E -> 0 <= cut_off parts k E <= E.
Proof.
  intros parts k E [k0 k1] E0. unfold cut_off. split; [apply Z.div_pos; nia|].
  apply Z.lt_succ_r, Z.div_lt_upper_bound; nia.
Qed.

Lemma cut_off_step :
  forall parts k E, 0 <= k < parts -> 0 <= cut_off parts k (E + 1) - cut_off parts k E <= 1.
Proof.
  intros parts k E [k0 k1]. unfold cut_off. split.
  - apply Zle_minus_le_0, Z.div_le_mono; lia.
  - replace (k * (E + 1 + 1)) with (k * (E + 1) + k) by ring.
    assert ((k * (E + 1) + k) / parts <= (k * (E + 1) + 1 * parts) / parts) as less
      by (apply Z.div_le_mono; lia).
    rewrite Z.div_add in less by lia. lia.
Qed.

(* One record more adds 0 or 1 to the rank of every cut. *)
Lemma rank_of_cut_step :
  forall parts a r b v k, 0 <= k < parts ->
    0 <= rank_of_cut parts (a ++ r :: b) v k - rank_of_cut parts (a ++ b) v k <= 1.
Proof.
  intros parts a r b v k within. unfold rank_of_cut. rewrite !tally_app, !tally_cons.
  unfold below, equal. destruct (Z.ltb_spec r v), (Z.eqb_spec r v); try lia.
  - rewrite !Z.add_0_l. lia.
  - set (E := tally (fun x : Z => x =? v) a + tally (fun x : Z => x =? v) b).
    replace (tally (fun x : Z => x =? v) a + (1 + tally (fun x : Z => x =? v) b)) with (E + 1) by (unfold E; lia).
    pose proof (cut_off_step parts k E within). lia.
  - rewrite !Z.add_0_l. lia.
Qed.

Theorem cut_add_remove :
  forall parts p q, 0 < p < q ->
    sensitivity one_apart (is_part parts) (cut_score parts p q) (Z.max p (q - p)) (2 * Z.max p (q - p)).
Proof.
  intros parts p q between. apply sensitivity_both_ways, sensitivity_of.
  intros before after [a [r [b [-> ->]]]] [v k] within. unfold cut_score.
  pose proof (rank_of_cut_step parts a r b v k within) as step.
  replace (total (a ++ r :: b)) with (total (a ++ b) + 1)
    by (unfold total; rewrite !tally_app, tally_cons; lia).
  assert (rank_of_cut parts (a ++ r :: b) v k = rank_of_cut parts (a ++ b) v k \/
    rank_of_cut parts (a ++ r :: b) v k = rank_of_cut parts (a ++ b) v k + 1) as [-> | ->] by lia; lia.
Qed.

(* All of a part's records are below its cut or above it. *)
Lemma rank_of_cut_within :
  forall parts records v k, 0 <= k < parts -> 0 <= rank_of_cut parts records v k <= total records.
Proof.
  intros parts records v k within. unfold rank_of_cut.
  pose proof (tally_nonneg Z (below v) records). pose proof (tally_nonneg Z (above v) records).
  pose proof (tally_nonneg Z (equal v) records) as some. pose proof (three_sides v records).
  pose proof (cut_off_within parts k _ within some). lia.
Qed.

Theorem cut_at_the_ends :
  forall parts p q, end_of_range p q ->
    monotonic one_apart (is_part parts) (cut_score parts p q) /\
    sensitivity one_apart (is_part parts) (cut_score parts p q) 1 1.
Proof.
  intros parts p q ends.
  assert (down : forall a r b part, is_part parts part ->
    -1 <= cut_score parts p q (a ++ r :: b) part - cut_score parts p q (a ++ b) part <= 0).
  { intros a r b [v k] within. unfold cut_score.
    pose proof (rank_of_cut_step parts a r b v k within).
    pose proof (rank_of_cut_within parts (a ++ b) v k within).
    pose proof (rank_of_cut_within parts (a ++ r :: b) v k within).
    assert (total (a ++ r :: b) = total (a ++ b) + 1) as more_records
      by (unfold total; rewrite !tally_app, tally_cons; lia).
    destruct ends as [-> [-> | ->]]; lia. }
  assert (one_way : monotonic one_apart (is_part parts) (cut_score parts p q)).
  { apply monotonic_both_ways. intros before after [a [r [b [-> ->]]]]. right.
    intros part within. pose proof (down a r b part within). lia. }
  split; [exact one_way|]. apply sensitivity_of_monotonic; [exact one_way|].
  intros before after [[a [r [b [-> ->]]]]|[a [r [b [-> ->]]]]] part within;
    pose proof (down a r b part within); lia.
Qed.

(* ---- What the two sides of a cut hold ---- *)

Definition records_below (parts : Z) (records : list Z) (v k : Z) : list Z :=
  filter (below v) records ++ copies (cut_off parts k (tally (equal v) records)) v.

Definition records_above (parts : Z) (records : list Z) (v k : Z) : list Z :=
  copies (tally (equal v) records - cut_off parts k (tally (equal v) records)) v ++ filter (above v) records.

(* One record more is one more on one side, and the other side is the same. *)
Definition one_side_more (parts : Z) (before after : list Z) (v k : Z) : Prop :=
  (more (records_below parts before v k) (records_below parts after v k) /\
   records_above parts after v k = records_above parts before v k) \/
  (records_below parts after v k = records_below parts before v k /\
   more (records_above parts before v k) (records_above parts after v k)).

Lemma copies_more : forall k x, 0 <= k -> copies (k + 1) x = x :: copies k x.
Proof. intros k x k0. unfold copies. rewrite Z2Nat.inj_add by lia. rewrite Nat.add_comm. reflexivity. Qed.

Theorem cut_parts :
  forall parts before after v k, 0 <= k < parts -> more before after ->
    one_side_more parts before after v k.
Proof.
  intros parts before after v k within [a [r [b [-> ->]]]]. unfold one_side_more, records_below, records_above.
  assert (E : tally (equal v) (a ++ r :: b) = (if equal v r then 1 else 0) + tally (equal v) (a ++ b))
    by (rewrite !tally_app, tally_cons; lia).
  rewrite E, !filter_app. cbn [filter].
  pose proof (tally_nonneg Z (equal v) (a ++ b)) as some. set (same := tally (equal v) (a ++ b)) in *.
  pose proof (cut_off_within parts k same within some) as inside.
  destruct (Z.lt_trichotomy r v) as [lower|[at_v|higher]].
  - replace (below v r) with true by (symmetry; apply Z.ltb_lt; exact lower).
    replace (above v r) with false by (symmetry; apply Z.ltb_ge; lia).
    replace (equal v r) with false by (symmetry; apply Z.eqb_neq; lia). rewrite Z.add_0_l.
    left. split; [|reflexivity].
    exists (filter (below v) a), r, (filter (below v) b ++ copies (cut_off parts k same) v).
    rewrite <- !app_assoc. split; reflexivity.
  - subst r. replace (below v v) with false by (symmetry; apply Z.ltb_irrefl).
    replace (above v v) with false by (symmetry; apply Z.ltb_irrefl).
    replace (equal v v) with true by (symmetry; apply Z.eqb_refl). rewrite (Z.add_comm 1).
    pose proof (cut_off_step parts k same within) as step.
    assert (cut_off parts k (same + 1) = cut_off parts k same \/
      cut_off parts k (same + 1) = cut_off parts k same + 1) as [-> | ->] by lia.
    + right. split; [reflexivity|].
      replace (same + 1 - cut_off parts k same) with (same - cut_off parts k same + 1) by lia.
      rewrite copies_more by lia. apply more_head.
    + left. replace (same + 1 - (cut_off parts k same + 1)) with (same - cut_off parts k same) by lia.
      split; [|reflexivity]. rewrite copies_more by lia.
      exists (filter (below v) a ++ filter (below v) b), v, (copies (cut_off parts k same) v).
      split; reflexivity.
  - replace (below v r) with false by (symmetry; apply Z.ltb_ge; lia).
    replace (above v r) with true by (symmetry; apply Z.ltb_lt; exact higher).
    replace (equal v r) with false by (symmetry; apply Z.eqb_neq; lia). rewrite Z.add_0_l.
    right. split; [reflexivity|].
    exists (copies (same - cut_off parts k same) v ++ filter (above v) a), r, (filter (above v) b).
    rewrite <- !app_assoc. split; reflexivity.
Qed.

(* ---- A level of the recursion ----

   What was drawn before it: for each part of the records that is cut, the point, the part of the point, and what was
   drawn for either side. *)

Inductive drawn : Type :=
  | nothing
  | cut (v k : Z) (low high : drawn).

Fixpoint level (parts : Z) (depth : nat) (cuts : drawn) (records : list Z) : list (list Z) :=
  match depth, cuts with
  | O, _ => [records]
  | S _, nothing => []
  | S deeper, cut v k low high =>
      level parts deeper low (records_below parts records v k) ++
      level parts deeper high (records_above parts records v k)
  end.

Fixpoint all_parts (parts : Z) (cuts : drawn) : Prop :=
  match cuts with
  | nothing => True
  | cut _ k low high => 0 <= k < parts /\ all_parts parts low /\ all_parts parts high
  end.

(* Of the parts of a level one at most has one record more, and all others are the same. *)
Theorem level_parts :
  forall parts depth cuts before after, all_parts parts cuts -> more before after ->
    level parts depth cuts after = level parts depth cuts before \/
    exists a old new b, level parts depth cuts before = a ++ old :: b /\
      level parts depth cuts after = a ++ new :: b /\ more old new.
Proof.
  intros parts. induction depth as [|depth IH]; intros cuts before after within one.
  - right. exists [], before, after, []. cbn. auto.
  - destruct cuts as [|v k low high]; [left; reflexivity|]. cbn [level].
    destruct within as [inside [within_low within_high]].
    destruct (cut_parts parts before after v k inside one) as [[grows same]|[same grows]].
    + rewrite same. destruct (IH low _ _ within_low grows) as [-> | [a [old [new [b [-> [-> here]]]]]]];
        [left; reflexivity|right].
      exists a, old, new, (b ++ level parts depth high (records_above parts before v k)).
      rewrite <- !app_assoc. auto.
    + rewrite same. destruct (IH high _ _ within_high grows) as [-> | [a [old [new [b [-> [-> here]]]]]]];
        [left; reflexivity|right].
      exists (level parts depth low (records_below parts before v k) ++ a), old, new, b.
      rewrite <- !app_assoc. auto.
Qed.

(* ---- The score `median_distance`, docs/reference/scores/of_tables.md#median_distance ---- *)

Definition median_distance (records : list Z) (c : Z) : Z :=
  - Z.max 0 (Z.abs (tally (below c) records - tally (above c) records) - tally (equal c) records + 1).

Theorem median_distance_add_remove : sensitivity one_apart any median_distance 1 2.
Proof.
  apply sensitivity_both_ways. change 2 with (2 * 1). apply sensitivity_of.
  intros before after [a [r [b [-> ->]]]] c _. unfold median_distance. compare_records; lia.
Qed.

Theorem median_distance_replace_one : sensitivity replaced any median_distance 2 4.
Proof.
  change 4 with (2 * 2). apply sensitivity_of.
  intros before after [a [r [s [b [-> ->]]]]] c _. unfold median_distance. compare_records; lia.
Qed.
