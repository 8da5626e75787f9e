(* Privacy units with several rows, docs/how-to/user_level_privacy.md: which rows stay, and how far scores move. *)

From Coq Require Import ZArith List Lia Bool.
From Discreet Require Import Records.
Import ListNotations.
Open Scope Z_scope.

(* ---- The rule: of m rows in order the one at place j stays if (j k + s) mod m < k ---- *)

Definition stays (k s m j : Z) : bool := (j * k + s) mod m <? k.

Definition places (n : nat) : list Z := map Z.of_nat (seq 0 n).

Lemma places_S : forall n, places (S n) = places n ++ [Z.of_nat n].
Proof. intros n. unfold places. rewrite seq_S, map_app. reflexivity. Qed.

(* A multiple of m lies between x - k, excluded, and x just where the remainder is below k. *)
Lemma multiples_passed :
  forall k m x, 0 < k <= m -> x / m - (x - k) / m = if x mod m <? k then 1 else 0.
Proof.
  intros k m x between. pose proof (Z.div_mod x m ltac:(lia)) as parts.
  pose proof (Z.mod_pos_bound x m ltac:(lia)) as rest.
  destruct (Z.ltb_spec (x mod m) k) as [less|not_less].
  - rewrite <- (Z.div_unique (x - k) m (x / m - 1) (x mod m - k + m)) by lia. lia.
  - rewrite <- (Z.div_unique (x - k) m (x / m) (x mod m - k)) by lia. lia.
Qed.

Lemma stays_of_first :
  forall k s m n, 0 < k <= m ->
    tally (stays k s m) (places n) = ((Z.of_nat n - 1) * k + s) / m - (s - k) / m.
Proof.
  intros k s m n between. induction n as [|n IH].
  - cbn [places seq map tally]. replace ((Z.of_nat 0 - 1) * k + s) with (s - k) by lia. lia.
  - rewrite places_S, tally_app, IH. cbn [tally]. unfold stays.
    rewrite <- (multiples_passed k m (Z.of_nat n * k + s) between).
    replace (Z.of_nat n * k + s - k) with ((Z.of_nat n - 1) * k + s) by lia.
    replace (Z.of_nat (S n) - 1) with (Z.of_nat n) by lia. lia.
Qed.

Theorem rule_keeps :
  forall k s m, 0 < k -> (0 < m)%nat ->
    tally (stays k s (Z.of_nat m)) (places m) = Z.min k (Z.of_nat m).
Proof.
  intros k s m k0 m0. destruct (Z.le_gt_cases k (Z.of_nat m)) as [some|all].
  - rewrite stays_of_first by lia.
    replace ((Z.of_nat m - 1) * k + s) with (s - k + k * Z.of_nat m) by lia.
    rewrite Z.div_add by lia. lia.
  - rewrite (tally_ext _ _ (fun _ => true)).
    + fold (total (places m)). rewrite total_length. unfold places. rewrite map_length, seq_length. lia.
    + intros j _. unfold stays. apply Z.ltb_lt.
      pose proof (Z.mod_pos_bound (j * k + s) (Z.of_nat m) ltac:(lia)). lia.
Qed.

(* The rows of one unit that stay: its own rows, in order, and its own s decide. *)
Definition kept {A : Type} (k s : Z) (rows : list A) : list A :=
  map snd (filter (fun row => stays k s (Z.of_nat (length rows)) (fst row))
             (combine (places (length rows)) rows)).

Lemma filter_length : forall A (test : A -> bool) l, Z.of_nat (length (filter test l)) = tally test l.
Proof.
  intros A test l. induction l as [|x l IH]; cbn [filter tally]; [reflexivity|].
  destruct (test x); cbn [length]; lia.
Qed.

Lemma tally_firsts :
  forall A B test (l : list A) (r : list B), length l = length r ->
    tally (fun pair => test (fst pair)) (combine l r) = tally test l.
Proof.
  intros A B test l. induction l as [|x l IH]; intros [|y r] same; cbn in same; try lia; [reflexivity|].
  cbn [combine tally fst]. rewrite IH by lia. reflexivity.
Qed.

(* Some of a list, in its order. *)
Inductive some_of {A : Type} : list A -> list A -> Prop :=
  | none_left : some_of [] []
  | left_out : forall x part l, some_of part l -> some_of part (x :: l)
  | taken : forall x part l, some_of part l -> some_of (x :: part) (x :: l).

Lemma filter_of_pairs :
  forall A B (test : A * B -> bool) firsts rows, length firsts = length rows ->
    some_of (map snd (filter test (combine firsts rows))) rows.
Proof.
  intros A B test firsts. induction firsts as [|j firsts IH]; intros [|row rows] same; cbn in same; try lia; [constructor|].
  cbn [combine filter]. destruct (test (j, row)); cbn [map snd]; constructor; apply IH; lia.
Qed.

Theorem kept_rows :
  forall A k s (rows : list A), 0 < k ->
    Z.of_nat (length (kept k s rows)) = Z.min k (Z.of_nat (length rows)) /\
    some_of (kept k s rows) rows.
Proof.
  intros A k s rows k0.
  assert (same : length (places (length rows)) = length rows) by (unfold places; rewrite map_length, seq_length; reflexivity).
  unfold kept. split.
  - rewrite map_length, filter_length, (tally_firsts _ _ (stays k s (Z.of_nat (length rows)))) by exact same.
    destruct rows as [|row rest]; [cbn; lia|]. apply rule_keeps; [exact k0|cbn; lia].
  - apply filter_of_pairs, same.
Qed.

(* A table is a list of units, each with its s and its rows. *)
Definition bounded {A : Type} (k : Z) (units : list (Z * list A)) : list A :=
  flat_map (fun unit => kept k (fst unit) (snd unit)) units.

Theorem bounded_table :
  forall A k (before after : list (Z * list A)), 0 < k ->
    (more before after -> unit_more k (bounded k before) (bounded k after)) /\
    (replaced before after -> unit_replaced k (bounded k before) (bounded k after)).
Proof.
  intros A k before after k0.
  assert (few : forall unit : Z * list A, Z.of_nat (length (kept k (fst unit) (snd unit))) <= k)
    by (intros [s rows]; destruct (kept_rows A k s rows k0) as [number _]; cbn [fst snd]; lia).
  split.
  - intros [a [u [b [-> ->]]]]. exists (bounded k a), (kept k (fst u) (snd u)), (bounded k b).
    unfold bounded. rewrite !flat_map_app. cbn [flat_map]. auto.
  - intros [a [u [v [b [-> ->]]]]].
    exists (bounded k a), (kept k (fst u) (snd u)), (kept k (fst v) (snd v)), (bounded k b).
    unfold bounded. rewrite !flat_map_app. cbn [flat_map]. auto.
Qed.

(* ---- Scores of rows, where a unit has k rows at most ---- *)

Section Scores.
  Variables (A C : Type) (allowed : C -> Prop) (score : list A -> C -> Z).

  (* What n changes of one row each do at most. *)
  Definition within (n change spread : Z) (before after : list A) : Prop :=
    (forall c, allowed c -> - (n * change) <= score after c - score before c <= n * change) /\
    (forall c d, allowed c -> allowed d ->
      (score after c - score before c) - (score after d - score before d) <= n * spread).

  Lemma within_step :
    forall n change spread before middle after,
      within 1 change spread before middle -> within n change spread middle after ->
      within (n + 1) change spread before after.
  Proof.
    intros n change spread before middle after [each pair] [rest_each rest_pair]. split.
    - intros c one. specialize (each c one). specialize (rest_each c one). lia.
    - intros c d one two. specialize (pair c d one two). specialize (rest_pair c d one two). lia.
  Qed.

  Lemma within_one :
    forall neighbours change spread, sensitivity neighbours allowed score change spread ->
      forall before after, neighbours before after -> within 1 change spread before after.
  Proof.
    intros neighbours change spread bound before after near. destruct (bound before after near) as [each pair].
    unfold within. rewrite !Z.mul_1_l. split; assumption.
  Qed.

  Lemma within_more :
    forall change spread, sensitivity more allowed score change spread ->
      forall new a b, within (Z.of_nat (length new)) change spread (a ++ b) (a ++ new ++ b) /\
        within (Z.of_nat (length new)) change spread (a ++ new ++ b) (a ++ b).
  Proof.
    intros change spread bound. apply sensitivity_both_ways in bound.
    induction new as [|row new IH]; intros a b.
    - cbn [length app]. split; (split; intros; lia).
    - cbn [length app]. rewrite Nat2Z.inj_succ. unfold Z.succ.
      destruct (IH a b) as [comes goes]. split.
      + assert (order : within (Z.of_nat (length new) + 1) change spread (a ++ b) (a ++ row :: new ++ b)).
        { destruct (IH (a ++ [row]) b) as [more_rows _]. rewrite <- !app_assoc in more_rows.
          apply within_step with (middle := a ++ row :: b); [|exact more_rows].
          apply (within_one one_apart); [exact bound|]. left. exists a, row, b. split; reflexivity. }
        exact order.
      + apply within_step with (middle := a ++ new ++ b); [|exact goes].
        apply (within_one one_apart); [exact bound|]. right. exists a, row, (new ++ b). split; reflexivity.
  Qed.

  Lemma within_wider :
    forall n m change more_change spread more_spread before after,
      0 <= n <= m -> 0 <= change <= more_change -> 0 <= spread <= more_spread ->
      within n change spread before after -> within m more_change more_spread before after.
  Proof.
    intros n m change more_change spread more_spread before after steps changes spreads [each pair].
    assert (n * change <= m * more_change) by nia. assert (n * spread <= m * more_spread) by nia. split.
    - intros c one. specialize (each c one). lia.
    - intros c d one two. specialize (pair c d one two). lia.
  Qed.

  Lemma within_replaced :
    forall change spread other_change other_spread,
      0 <= change -> 0 <= spread -> 0 <= other_change -> 0 <= other_spread ->
      sensitivity more allowed score change spread ->
      sensitivity replaced allowed score other_change other_spread ->
      forall old new a b,
        within (Z.of_nat (Nat.max (length old) (length new)))
          (Z.max change other_change) (Z.max spread other_spread) (a ++ old ++ b) (a ++ new ++ b).
  Proof.
    intros change spread other_change other_spread c0 s0 oc0 os0 bound other.
    induction old as [|x old IH]; intros new a b.
    - apply within_wider with (n := Z.of_nat (length new)) (change := change) (spread := spread);
        [cbn [length]; lia|lia|lia|]. apply (within_more change spread bound new a b).
    - destruct new as [|y new].
      + apply within_wider with (n := Z.of_nat (length (x :: old))) (change := change) (spread := spread);
          [cbn [length]; lia|lia|lia|]. apply (within_more change spread bound (x :: old) a b).
      + cbn [length Nat.max]. rewrite Nat2Z.inj_succ. unfold Z.succ.
        apply within_step with (middle := a ++ y :: old ++ b).
        * apply within_wider with (n := 1) (change := other_change) (spread := other_spread); [lia|lia|lia|].
          apply (within_one replaced); [exact other|]. exists a, x, y, (old ++ b). split; reflexivity.
        * pose proof (IH new (a ++ [y]) b) as rest. rewrite <- !app_assoc in rest. exact rest.
  Qed.

  Theorem unit_add_remove :
    forall k change spread, 0 <= change -> 0 <= spread ->
      sensitivity more allowed score change spread ->
      sensitivity (unit_more k) allowed score (k * change) (k * spread).
  Proof.
    intros k change spread c0 s0 bound before after [a [new [b [-> [-> few]]]]].
    apply (within_wider (Z.of_nat (length new)) k change change spread spread); [lia|lia|lia|].
    apply within_more. exact bound.
  Qed.

  Theorem unit_replace_one :
    forall k change spread other_change other_spread,
      0 <= change -> 0 <= spread -> 0 <= other_change -> 0 <= other_spread ->
      sensitivity more allowed score change spread ->
      sensitivity replaced allowed score other_change other_spread ->
      sensitivity (unit_replaced k) allowed score
        (k * Z.max change other_change) (k * Z.max spread other_spread).
  Proof.
    intros k change spread other_change other_spread c0 s0 oc0 os0 bound other before after
      [a [old [new [b [-> [-> [few_old few_new]]]]]]].
    apply (within_wider (Z.of_nat (Nat.max (length old) (length new))) k
      (Z.max change other_change) (Z.max change other_change)
      (Z.max spread other_spread) (Z.max spread other_spread)); [lia|lia|lia|].
    apply within_replaced; assumption.
  Qed.

  (* If no row that comes lowers a score, no unit that comes does. *)
  Theorem unit_is_monotonic :
    forall k,
      (forall before after, more before after -> forall c, allowed c -> score before c <= score after c) ->
      forall before after, unit_more k before after ->
        forall c, allowed c -> score before c <= score after c.
  Proof.
    intros k rises before after [a [new [b [-> [-> _]]]]] c one. revert a.
    induction new as [|row new IH]; intros a; [cbn [app]; lia|].
    pose proof (IH (a ++ [row])) as rest. rewrite <- !app_assoc in rest. cbn [app] in *.
    assert (score (a ++ b) c <= score (a ++ row :: b) c)
      by (apply rises; [exists a, row, b; split; reflexivity|exact one]).
    lia.
  Qed.
End Scores.

(* ---- Counts: of rows with one value each, and of units, which count once for each candidate that they hold ---- *)

Definition counts {A C : Type} (holds : A -> C -> bool) (records : list A) (c : C) : Z :=
  tally (fun record => holds record c) records.

Theorem counts_rise :
  forall A C (holds : A -> C -> bool) before after, more before after ->
    forall c, 0 <= counts holds after c - counts holds before c <= 1.
Proof.
  intros A C holds before after [a [r [b [-> ->]]]] c. unfold counts.
  rewrite !tally_app, tally_cons. destruct (holds r c); lia.
Qed.

Theorem counts_add_remove :
  forall A C (holds : A -> C -> bool),
    monotonic one_apart any (counts holds) /\ sensitivity one_apart any (counts holds) 1 1.
Proof.
  intros A C holds.
  assert (up : monotonic one_apart any (counts holds)).
  { apply monotonic_both_ways. intros before after near. left. intros c _.
    pose proof (counts_rise A C holds before after near c). lia. }
  split; [exact up|]. apply sensitivity_of_monotonic; [exact up|]. intros before after [near|near] c _;
    pose proof (counts_rise A C holds _ _ near c); lia.
Qed.

Theorem counts_replace_one :
  forall A C (holds : A -> C -> bool), sensitivity replaced any (counts holds) 1 2.
Proof.
  intros A C holds. change 2 with (2 * 1). apply sensitivity_of.
  intros before after [a [r [s [b [-> ->]]]]] c _. unfold counts.
  rewrite !tally_app, !tally_cons. destruct (holds r c), (holds s c); lia.
Qed.

(* With `max_candidates`: of the candidates that a unit's own rows hold, in the order of the list, those that the rule
   keeps. A unit is its s and what it holds. *)
Definition holds_kept (k : Z) (candidates : list Z) (unit : Z * (Z -> bool)) (c : Z) : bool :=
  existsb (Z.eqb c) (kept k (fst unit) (filter (snd unit) candidates)).

Theorem counts_moved :
  forall k candidates before after, 0 < k -> NoDup candidates -> more before after ->
    tally (fun c => counts (holds_kept k candidates) after c - counts (holds_kept k candidates) before c =? 1)
      candidates <= k.
Proof.
  intros k candidates before after k0 distinct [a [[s has] [b [-> ->]]]].
  set (chosen := kept k s (filter has candidates)).
  destruct (kept_rows Z k s (filter has candidates) k0) as [number _].
  rewrite <- filter_length.
  assert (few : le (length (filter (fun c => counts (holds_kept k candidates) (a ++ (s, has) :: b) c -
      counts (holds_kept k candidates) (a ++ b) c =? 1) candidates)) (length chosen)).
  { apply NoDup_incl_length; [apply NoDup_filter; exact distinct|].
    intros c inside. apply filter_In in inside. destruct inside as [_ rises].
    apply Z.eqb_eq in rises. unfold counts in rises. rewrite !tally_app, tally_cons in rises.
    destruct (holds_kept k candidates (s, has) c) eqn:here; [|lia].
    apply existsb_exists in here. destruct here as [d [inside same]]. apply Z.eqb_eq in same. subst d.
    exact inside. }
  fold chosen in number. lia.
Qed.

(* ---- Counts by groups: the m of docs/reference/mechanisms/noisy_counts.md ----

   A unit is its s and what its rows hold in each group. Of the groups in which it has rows the rule keeps g, and in each of
   them c of the candidates that it holds. *)

Definition groups_kept (g : Z) (groups candidates : list Z) (unit : Z * (Z -> Z -> bool)) : list Z :=
  kept g (fst unit) (filter (fun group => existsb (snd unit group) candidates) groups).

Definition cells_kept (g c : Z) (groups candidates : list Z) (unit : Z * (Z -> Z -> bool)) : list (Z * Z) :=
  flat_map (fun group => map (pair group) (kept c (fst unit) (filter (snd unit group) candidates)))
    (groups_kept g groups candidates unit).

Definition same_cell (one other : Z * Z) : bool := (fst one =? fst other) && (snd one =? snd other).

Definition holds_cell (g c : Z) (groups candidates : list Z) (unit : Z * (Z -> Z -> bool)) (cell : Z * Z) : bool :=
  existsb (same_cell cell) (cells_kept g c groups candidates unit).

Lemma flat_map_length :
  forall A B (f : A -> list B) most l, (forall x, Z.of_nat (length (f x)) <= most) ->
    Z.of_nat (length (flat_map f l)) <= Z.of_nat (length l) * most.
Proof.
  intros A B f most l few. induction l as [|x l IH]; cbn [flat_map length]; [lia|].
  rewrite app_length. specialize (few x). lia.
Qed.

Lemma cells_are_few :
  forall g c groups candidates unit, 0 < g -> 0 < c ->
    Z.of_nat (length (cells_kept g c groups candidates unit)) <= g * c.
Proof.
  intros g c groups candidates unit g0 c0.
  assert (inner : forall group, Z.of_nat (length (map (pair group)
    (kept c (fst unit) (filter (snd unit group) candidates)))) <= c).
  { intros group. rewrite map_length.
    destruct (kept_rows Z c (fst unit) (filter (snd unit group) candidates) c0) as [number _]. lia. }
  pose proof (flat_map_length _ _ _ c (groups_kept g groups candidates unit) inner) as all.
  destruct (kept_rows Z g (fst unit) (filter (fun group => existsb (snd unit group) candidates) groups) g0)
    as [number _].
  fold (groups_kept g groups candidates unit) in number. unfold cells_kept. nia.
Qed.

(* Of any cells, all different, a unit counts in at most g c. *)
Lemma cells_held :
  forall g c groups candidates unit cells, 0 < g -> 0 < c -> NoDup cells ->
    tally (holds_cell g c groups candidates unit) cells <= g * c.
Proof.
  intros g c groups candidates unit cells g0 c0 distinct. rewrite <- filter_length.
  assert (few : le (length (filter (holds_cell g c groups candidates unit) cells))
    (length (cells_kept g c groups candidates unit))).
  { apply NoDup_incl_length; [apply NoDup_filter; exact distinct|].
    intros cell inside. apply filter_In in inside. destruct inside as [_ here].
    apply existsb_exists in here. destruct here as [other [inside same]].
    apply andb_prop in same. destruct same as [one two]. apply Z.eqb_eq in one, two.
    destruct cell as [x y], other as [u v]. cbn in one, two. subst. exact inside. }
  pose proof (cells_are_few g c groups candidates unit g0 c0). lia.
Qed.

Lemma tally_or :
  forall A (one other both : A -> bool) l,
    (forall x, In x l -> both x = true -> one x = true \/ other x = true) ->
    tally both l <= tally one l + tally other l.
Proof.
  intros A one other both l implied. induction l as [|x l IH]; cbn [tally]; [lia|].
  pose proof (IH (fun y inside => implied y (or_intror inside))).
  pose proof (implied x (or_introl eq_refl)) as head.
  destruct (both x), (one x), (other x); lia.
Qed.

(* How many cells have another count, and by how much: m = g c where a unit comes, 2 g c where it is replaced. *)
Theorem cells_moved :
  forall g c groups candidates cells before after, 0 < g -> 0 < c -> NoDup cells ->
    let count := counts (holds_cell g c groups candidates) in
    let differs cell := negb (count after cell =? count before cell) in
    (more before after -> tally differs cells <= g * c) /\
    (replaced before after -> tally differs cells <= 2 * (g * c)) /\
    (more before after \/ replaced before after -> forall cell, -1 <= count after cell - count before cell <= 1).
Proof.
  intros g c groups candidates cells before after g0 c0 distinct count differs. unfold differs.
  split; [|split].
  - intros [a [u [b [-> ->]]]].
    eapply Z.le_trans; [|exact (cells_held g c groups candidates u cells g0 c0 distinct)].
    apply tally_le. intros cell _ other. unfold count, counts in other. rewrite !tally_app, tally_cons in other.
    destruct (holds_cell g c groups candidates u cell); [reflexivity|].
    rewrite Z.add_0_l, Z.eqb_refl in other. discriminate.
  - intros [a [u [v [b [-> ->]]]]].
    pose proof (cells_held g c groups candidates u cells g0 c0 distinct).
    pose proof (cells_held g c groups candidates v cells g0 c0 distinct).
    eapply Z.le_trans; [apply (tally_or _ (holds_cell g c groups candidates u) (holds_cell g c groups candidates v))|lia].
    intros cell _ other. unfold count, counts in other. rewrite !tally_app, !tally_cons in other.
    destruct (holds_cell g c groups candidates u cell); [left; reflexivity|].
    destruct (holds_cell g c groups candidates v cell); [right; reflexivity|].
    rewrite Z.eqb_refl in other. discriminate.
  - intros [[a [u [b [-> ->]]]]|[a [u [v [b [-> ->]]]]]] cell; unfold count, counts;
    rewrite !tally_app, !tally_cons.
    + destruct (holds_cell g c groups candidates u cell); lia.
    + destruct (holds_cell g c groups candidates u cell), (holds_cell g c groups candidates v cell); lia.
Qed.
