(* The bounds of JointQuantiles are reached: for all shares that are quotients, on grids of 2 m + 3 points under `add_remove`,
   and on 7 points under `replace_one`. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Sums Records Rank JointQuantiles.
Import ListNotations.
Open Scope R_scope.

(* Where no record is at a point its cut is known. *)
Lemma least_of_empty_points :
  forall m t A o g,
    (forall j, (1 <= j <= m)%nat -> tied A (o j) = 0 /\ lower A (o j) = g j) ->
    g 0%nat = 0 -> g (S m) = number A -> (forall j, (j <= m)%nat -> g j <= g (S j)) ->
    least m t A o (cost m t (number A) g).
Proof.
  intros m t A o g empty first last rises.
  assert (fits : cuts m A o g).
  { split; [exact first|split; [exact last|split; [|exact rises]]].
    intros j one. destruct (empty j one) as [none here]. left. auto. }
  split; [|intros u under; apply under; exact fits].
  intros c [c_first [c_last [good _]]].
  assert (same : forall j, (j <= S m)%nat -> c j = g j).
  { intros j le. destruct (Nat.eq_dec j 0) as [->|some]; [lra|].
    destruct (Nat.eq_dec j (S m)) as [->|inside]; [lra|].
    destruct (empty j ltac:(lia)) as [none here]. destruct (good j ltac:(lia)) as [[_ ->]|[one _]]; lra. }
  right. unfold cost. apply sum_ext. intros j less. unfold cell. rewrite !same by lia. reflexivity.
Qed.

(* ---- Blocks: f j records at the point 2 j + 1, none at even points ---- *)

Definition odd (j : nat) : Z := (2 * Z.of_nat j + 1)%Z.
Definition even (j : nat) : Z := (2 * Z.of_nat j)%Z.

Fixpoint blocks (n : nat) (f : nat -> nat) : list Z :=
  match n with
  | O => []
  | S k => blocks k f ++ repeat (odd k) (f k)
  end.

Definition real (f : nat -> nat) (j : nat) : R := INR (f j).

Lemma tally_of_copies : forall (test : Z -> bool) x n, IZR (tally test (repeat x n)) = if test x then INR n else 0.
Proof. intros test x n. rewrite tally_repeat. destruct (test x); [rewrite INR_IZR_INZ|]; reflexivity. Qed.

Lemma number_blocks : forall n f, number (blocks n f) = sum n (real f).
Proof.
  induction n as [|n IH]; intros f; [reflexivity|]. cbn [blocks sum].
  unfold number, total in *. rewrite tally_app, plus_IZR, IH, tally_of_copies. reflexivity.
Qed.

Lemma lower_beyond : forall n f x, (even n <= x)%Z -> lower (blocks n f) x = sum n (real f).
Proof.
  induction n as [|n IH]; intros f x beyond; [reflexivity|]. cbn [blocks sum]. unfold even in beyond.
  pose proof (IH f x ltac:(unfold even; lia)) as before.
  unfold lower in *. rewrite tally_app, plus_IZR, before, tally_of_copies. unfold below, odd.
  destruct (Z.ltb_spec (2 * Z.of_nat n + 1) x); [reflexivity|lia].
Qed.

Lemma lower_blocks : forall n f j, (j <= n)%nat -> lower (blocks n f) (even j) = sum j (real f).
Proof.
  induction n as [|n IH]; intros f j le.
  - replace j with 0%nat by lia. reflexivity.
  - destruct (Nat.eq_dec j (S n)) as [->|inside]; [apply lower_beyond; lia|].
    cbn [blocks]. pose proof (IH f j ltac:(lia)) as before.
    unfold lower in *. rewrite tally_app, plus_IZR, before, tally_of_copies. unfold below, odd, even.
    destruct (Z.ltb_spec (2 * Z.of_nat n + 1) (2 * Z.of_nat j)); [lia|lra].
Qed.

Lemma tied_blocks : forall n f j, tied (blocks n f) (even j) = 0.
Proof.
  induction n as [|n IH]; intros f j; [reflexivity|]. cbn [blocks]. pose proof (IH f j) as before.
  unfold tied in *. rewrite tally_app, plus_IZR, before, tally_of_copies. unfold equal, odd, even.
  destruct (Z.eqb_spec (2 * Z.of_nat n + 1) (2 * Z.of_nat j)); [lia|lra].
Qed.

Lemma blocks_inside : forall n f x, In x (blocks n f) -> (0 <= x <= even n)%Z.
Proof.
  induction n as [|n IH]; intros f x inside; [contradiction|]. cbn [blocks] in inside.
  apply in_app_iff in inside. destruct inside as [inside|inside].
  - specialize (IH f x inside). unfold even in *. lia.
  - apply repeat_spec in inside. subst. unfold odd, even. lia.
Qed.

(* One record less in block i. *)
Definition less_one (i : nat) (f : nat -> nat) (j : nat) : nat := if Nat.eqb j i then pred (f j) else f j.

Lemma blocks_ext : forall n f g, (forall j, (j < n)%nat -> f j = g j) -> blocks n f = blocks n g.
Proof.
  induction n as [|n IH]; intros f g same; [reflexivity|]. cbn [blocks].
  rewrite (IH f g) by (intros; apply same; lia). rewrite (same n) by lia. reflexivity.
Qed.

Lemma blocks_more : forall n f i, (i < n)%nat -> (1 <= f i)%nat -> more (blocks n (less_one i f)) (blocks n f).
Proof.
  induction n as [|n IH]; intros f i less some; [lia|]. cbn [blocks].
  destruct (Nat.eq_dec i n) as [->|before].
  - rewrite (blocks_ext n (less_one n f) f)
      by (intros j under; unfold less_one; destruct (Nat.eqb_spec j n); [lia|reflexivity]).
    unfold less_one. rewrite Nat.eqb_refl. destruct (f n) as [|k]; [lia|]. cbn [pred repeat].
    exists (blocks n f), (odd n), (repeat (odd n) k). split; reflexivity.
  - destruct (IH f i ltac:(lia) some) as [a [r [b [one two]]]]. rewrite one, two.
    unfold less_one at 1. destruct (Nat.eqb_spec n i); [lia|].
    exists a, r, (b ++ repeat (odd n) (f n)). rewrite <- !app_assoc. split; reflexivity.
Qed.

Lemma real_less_one :
  forall i f j, (1 <= f i)%nat -> real (less_one i f) j = real f j - (if Nat.eqb j i then 1 else 0).
Proof.
  intros i f j some. unfold real, less_one. destruct (Nat.eqb_spec j i) as [->|other]; [|lra].
  destruct (f i) as [|k]; [lia|]. cbn [pred]. rewrite S_INR. lra.
Qed.

(* ---- One record more ---- *)

Lemma apart_from_one :
  forall m t i, shares m t -> (i <= m)%nat ->
    sum (S m) (fun j => Rabs ((if Nat.eqb j i then 1 else 0) - t j)) = 2 * (1 - t i).
Proof.
  intros m t i [nonneg whole] le.
  assert (one : t i <= 1).
  { rewrite <- whole. apply sum_term; [lia|]. intros j less. apply nonneg. lia. }
  rewrite (sum_ext (S m) _ (fun j => t j + (if Nat.eqb j i then 1 - 2 * t i else 0))).
  - rewrite sum_plus, whole, sum_only by lia. ring.
  - intros j less. pose proof (nonneg j ltac:(lia)).
    destruct (Nat.eqb_spec j i) as [->|other]; [rewrite Rabs_pos_eq by lra|rewrite Rabs_left1 by lra]; lra.
Qed.

(* All points up to the one before cell i are below all records, all others above. *)
Definition around (m i j : nat) : Z := if (j <=? i)%nat then even 0 else even (S m).

Definition all_in (i : nat) (n : R) (j : nat) : R := if (j <=? i)%nat then 0 else n.

Lemma least_around :
  forall m t i f, shares m t -> (i <= m)%nat ->
    least m t (blocks (S m) f) (around m i) (number (blocks (S m) f) * (2 * (1 - t i))).
Proof.
  intros m t i f whole le. set (n := number (blocks (S m) f)).
  assert (n0 : 0 <= n) by apply IZR_le, tally_nonneg.
  replace (n * (2 * (1 - t i))) with (cost m t n (all_in i n)).
  - apply least_of_empty_points.
    + intros j between. unfold around, all_in. destruct (Nat.leb_spec j i).
      * split; [apply tied_blocks|]. apply (lower_blocks (S m) f 0). lia.
      * split; [apply tied_blocks|]. unfold n. rewrite number_blocks. apply lower_beyond. lia.
    + reflexivity.
    + unfold all_in. destruct (Nat.leb_spec (S m) i); [lia|reflexivity].
    + intros j less. unfold all_in. destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i); try lia; lra.
  - rewrite <- (apart_from_one m t i whole le), <- sum_scal. unfold cost. apply sum_ext. intros j less.
    rewrite <- (Rabs_pos_eq n) at 3 by exact n0. rewrite <- Rabs_mult. f_equal. unfold cell, all_in.
    destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i), (Nat.eqb_spec j i); try lia; ring.
Qed.

(* The even points from 2 on: cell j holds block j. *)
Lemma least_between :
  forall m t f, least m t (blocks (S m) f) even
    (sum (S m) (fun j => Rabs (real f j - t j * number (blocks (S m) f)))).
Proof.
  intros m t f.
  replace (sum (S m) (fun j => Rabs (real f j - t j * number (blocks (S m) f))))
    with (cost m t (number (blocks (S m) f)) (fun j => sum j (real f))).
  - apply least_of_empty_points.
    + intros j between. split; [apply tied_blocks|apply lower_blocks; lia].
    + reflexivity.
    + symmetry. apply number_blocks.
    + intros j _. cbn [sum]. assert (0 <= real f j) by apply pos_INR. lra.
  - unfold cost. apply sum_ext. intros j _. unfold cell. cbn [sum]. f_equal. ring.
Qed.

Lemma ascending_around : forall m i, ascending m (around m i).
Proof.
  intros m i j one less. unfold around, even. destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i); lia.
Qed.

Lemma ascending_even : forall m, ascending m even.
Proof. intros m j one less. unfold even. lia. Qed.

(* The shares are f j / D; i has any share, k one above 0. All records and points are among 0, ..., 2 m + 2. *)
Theorem joint_add_remove_is_tight :
  forall m (f : nat -> nat) i k,
    let t j := real f j / sum (S m) (real f) in
    (i <= m)%nat -> (k <= m)%nat -> (1 <= f k)%nat ->
    exists before after o o' v v' w w',
      more before after /\ ascending m o /\ ascending m o' /\
      (forall x, In x after -> (0 <= x <= even (S m))%Z) /\
      (forall j, (1 <= j <= m)%nat -> (0 <= o j <= even (S m) /\ 0 <= o' j <= even (S m))%Z) /\
      least m t before o v /\ least m t after o w /\ least m t before o' v' /\ least m t after o' w' /\
      (w - v) - (w' - v') = 2 * (1 - t i) + 2 * (1 - t k).
Proof.
  intros m f i k t le_i le_k some.
  set (D := sum (S m) (real f)) in t.
  assert (D1 : 1 <= D).
  { apply Rle_trans with (real f k); [change 1 with (INR 1); apply le_INR; exact some|].
    apply sum_term; [lia|]. intros. apply pos_INR. }
  assert (whole : shares m t).
  { split.
    - intros j _. unfold t. apply Rmult_le_pos; [apply pos_INR|left; apply Rinv_0_lt_compat; lra].
    - unfold t, Rdiv. rewrite sum_scal_r. fold D. field. lra. }
  assert (all : number (blocks (S m) f) = D) by apply number_blocks.
  assert (fewer : number (blocks (S m) (less_one k f)) = D - 1).
  { rewrite number_blocks. rewrite (sum_ext (S m) _ (fun j => real f j - (if Nat.eqb j k then 1 else 0)))
      by (intros; apply real_less_one; exact some).
    rewrite sum_minus, sum_only by lia. reflexivity. }
  exists (blocks (S m) (less_one k f)), (blocks (S m) f), (around m i), even.
  exists (number (blocks (S m) (less_one k f)) * (2 * (1 - t i))).
  exists (sum (S m) (fun j => Rabs (real (less_one k f) j - t j * number (blocks (S m) (less_one k f))))).
  exists (number (blocks (S m) f) * (2 * (1 - t i))).
  exists (sum (S m) (fun j => Rabs (real f j - t j * number (blocks (S m) f)))).
  split; [apply blocks_more; [lia|exact some]|].
  split; [apply ascending_around|]. split; [apply ascending_even|].
  split; [apply blocks_inside|].
  split; [intros j between; unfold around, even; destruct (j <=? i)%nat; lia|].
  split; [apply least_around; assumption|]. split; [apply least_around; assumption|].
  split; [apply least_between|]. split; [apply least_between|].
  rewrite all, fewer.
  rewrite (sum_ext (S m) (fun j => Rabs (real f j - t j * D)) (fun _ => 0)).
  - rewrite sum_zero.
    rewrite (sum_ext (S m) _ (fun j => Rabs ((if Nat.eqb j k then 1 else 0) - t j))).
    + rewrite (apart_from_one m t k whole le_k). ring.
    + intros j less. rewrite real_less_one by exact some.
      rewrite <- (Rabs_Ropp ((if Nat.eqb j k then 1 else 0) - t j)). f_equal. unfold t. field. lra.
  - intros j less. replace (real f j - t j * D) with 0 by (unfold t; field; lra). apply Rabs_R0.
Qed.

(* ---- One record replaced ---- *)

Definition others (n : nat) : list Z := repeat 3%Z n.

Lemma lower_of_one : forall x n y, lower (x :: others n) y =
  (if (x <? y)%Z then 1 else 0) + (if (3 <? y)%Z then INR n else 0).
Proof.
  intros x n y. unfold lower, below, others. rewrite tally_cons, plus_IZR, tally_of_copies.
  destruct (x <? y)%Z; reflexivity.
Qed.

Lemma tied_of_one : forall x n y, tied (x :: others n) y =
  (if (x =? y)%Z then 1 else 0) + (if (3 =? y)%Z then INR n else 0).
Proof.
  intros x n y. unfold tied, equal, others. rewrite tally_cons, plus_IZR, tally_of_copies.
  destruct (x =? y)%Z; reflexivity.
Qed.

Lemma number_of_one : forall x n, number (x :: others n) = 1 + INR n.
Proof.
  intros x n. unfold number, total, others. rewrite tally_cons, plus_IZR, tally_of_copies. reflexivity.
Qed.

(* The points up to the one before cell i are x, all others y. *)
Definition two_points (x y : Z) (i j : nat) : Z := if (j <=? i)%nat then x else y.

Definition two_cuts (m i : nat) (c d n : R) (j : nat) : R :=
  if (j =? 0)%nat then 0 else if (m <? j)%nat then n else if (j <=? i)%nat then c else d.

Lemma least_of_two_points :
  forall m t A x y i, (i <= m)%nat -> tied A x = 0 -> tied A y = 0 -> (x <= y)%Z ->
    least m t A (two_points x y i)
      (cost m t (number A) (two_cuts m i (lower A x) (lower A y) (number A))).
Proof.
  intros m t A x y i le none_x none_y order.
  pose proof (lower_nonneg A x). pose proof (within_number A x). pose proof (within_number A y).
  pose proof (lower_nonneg A y).
  assert (lower A x <= lower A y).
  { destruct (Z.eq_dec x y) as [->|other]; [lra|]. pose proof (lower_step A x y ltac:(lia)). lra. }
  assert (0 <= number A) by apply IZR_le, tally_nonneg.
  apply least_of_empty_points.
  - intros j between. unfold two_points, two_cuts.
    destruct (Nat.eqb_spec j 0), (Nat.ltb_spec m j); try lia. destruct (j <=? i)%nat; auto.
  - reflexivity.
  - unfold two_cuts. destruct (Nat.eqb_spec (S m) 0), (Nat.ltb_spec m (S m)); try lia. reflexivity.
  - intros j less. unfold two_cuts.
    destruct (Nat.eqb_spec j 0), (Nat.eqb_spec (S j) 0), (Nat.ltb_spec m j), (Nat.ltb_spec m (S j)),
      (Nat.leb_spec j i), (Nat.leb_spec (S j) i); try lia; lra.
Qed.

Lemma shares_at_most_one :
  forall m t i j, shares m t -> (i <= m)%nat -> (j <= m)%nat -> i <> j -> t i + t j <= 1.
Proof.
  intros m t i j [nonneg whole] le_i le_j other. rewrite <- whole.
  apply Rle_trans with (sum (S m) (fun k => (if Nat.eqb k i then t i else 0) + (if Nat.eqb k j then t j else 0))).
  - rewrite sum_plus, !sum_only by lia. lra.
  - apply sum_le. intros k less. pose proof (nonneg k ltac:(lia)).
    destruct (Nat.eqb_spec k i), (Nat.eqb_spec k j); subst; try lia; lra.
Qed.

(* n + 1 records, one of which goes from 1 to 5; i is any cell but the last, k any but the first, with shares above 0. *)
Theorem joint_replace_one_is_tight :
  forall m t i k, shares m t -> (i < m)%nat -> (1 <= k <= m)%nat -> 0 < t i -> 0 < t k ->
    exists before after o o' v v' w w',
      replaced before after /\ ascending m o /\ ascending m o' /\
      least m t before o v /\ least m t after o w /\ least m t before o' v' /\ least m t after o' w' /\
      (w - v) - (w' - v') = 4.
Proof.
  intros m t i k whole less_i between_k some_i some_k.
  assert (many : exists n : nat, 1 <= t i * (1 + INR n) /\ 1 <= t k * (1 + INR n)).
  { destruct (archimed_cor1 (Rmin (t i) (t k)) ltac:(apply Rmin_glb_lt; lra)) as [n [small n0]].
    exists n. apply lt_0_INR in n0.
    assert (/ INR n < t i) by (eapply Rlt_le_trans; [exact small|apply Rmin_l]).
    assert (/ INR n < t k) by (eapply Rlt_le_trans; [exact small|apply Rmin_r]).
    assert (/ INR n * INR n = 1) by (field; lra).
    assert (/ INR n * INR n <= t i * INR n) by (apply Rmult_le_compat_r; lra).
    assert (/ INR n * INR n <= t k * INR n) by (apply Rmult_le_compat_r; lra). lra. }
  destruct many as [n [many_i many_k]]. set (N := 1 + INR n) in *.
  assert (N1 : 1 <= N) by (unfold N; pose proof (pos_INR n); lra).
  set (before := 1%Z :: others n). set (after := 5%Z :: others n).
  assert (all_before : number before = N) by apply number_of_one.
  assert (all_after : number after = N) by apply number_of_one.
  assert (low : forall y, lower before y = (if (1 <? y)%Z then 1 else 0) + (if (3 <? y)%Z then INR n else 0))
    by (intros; apply lower_of_one).
  assert (low' : forall y, lower after y = (if (5 <? y)%Z then 1 else 0) + (if (3 <? y)%Z then INR n else 0))
    by (intros; apply lower_of_one).
  assert (none : forall y, y = 0%Z \/ y = 2%Z \/ y = 4%Z \/ y = 6%Z -> tied before y = 0 /\ tied after y = 0).
  { intros y one. unfold before, after. rewrite !tied_of_one.
    destruct one as [-> | [-> | [-> | ->]]]; cbn; lra. }
  exists before, after, (two_points 0 2 i), (two_points 4 6 k).
  exists (cost m t (number before) (two_cuts m i (lower before 0) (lower before 2) (number before))).
  exists (cost m t (number before) (two_cuts m k (lower before 4) (lower before 6) (number before))).
  exists (cost m t (number after) (two_cuts m i (lower after 0) (lower after 2) (number after))).
  exists (cost m t (number after) (two_cuts m k (lower after 4) (lower after 6) (number after))).
  split; [exists [], 1%Z, 5%Z, (others n); split; reflexivity|].
  split; [intros j one less; unfold two_points; destruct (Nat.leb_spec j i), (Nat.leb_spec (S j) i); lia|].
  split; [intros j one less; unfold two_points; destruct (Nat.leb_spec j k), (Nat.leb_spec (S j) k); lia|].
  split; [apply least_of_two_points; [lia|apply none; auto|apply none; auto|lia]|].
  split; [apply least_of_two_points; [lia|apply none; auto|apply none; auto|lia]|].
  split; [apply least_of_two_points; [lia|apply none; auto|apply none; auto|lia]|].
  split; [apply least_of_two_points; [lia|apply none; auto|apply none; auto|lia]|].
  rewrite all_before, all_after, !low, !low'. cbn [Z.ltb Z.compare Pos.compare Pos.compare_cont].
  destruct whole as [nonneg whole].
  assert (rest : forall j, (j <= m)%nat -> j <> i -> 1 <= (1 - t j) * N).
  { intros j le other. pose proof (shares_at_most_one m t i j (conj nonneg whole) ltac:(lia) le ltac:(lia)).
    assert (t i * N <= (1 - t j) * N) by (apply Rmult_le_compat_r; lra). lra. }
  assert (rest' : forall j, (j <= m)%nat -> j <> k -> 1 <= (1 - t j) * N).
  { intros j le other. pose proof (shares_at_most_one m t k j (conj nonneg whole) ltac:(lia) le ltac:(lia)).
    assert (t k * N <= (1 - t j) * N) by (apply Rmult_le_compat_r; lra). lra. }
  assert (one : cost m t N (two_cuts m i 0 0 N) - cost m t N (two_cuts m i 0 1 N) = 2).
  { unfold cost. rewrite <- sum_minus.
    rewrite (sum_ext (S m) _ (fun j => (if Nat.eqb j i then 1 else 0) + (if Nat.eqb j m then 1 else 0))).
    - rewrite !sum_plus, !sum_only by lia. lra.
    - intros j less. pose proof (nonneg j ltac:(lia)) as t0. pose proof (rest j ltac:(lia)) as room.
      assert (0 <= t j * N) by (apply Rmult_le_pos; lra).
      unfold cell, two_cuts.
      destruct (Nat.eqb_spec j 0), (Nat.eqb_spec (S j) 0), (Nat.ltb_spec m j), (Nat.ltb_spec m (S j)),
        (Nat.leb_spec j i), (Nat.leb_spec (S j) i), (Nat.eqb_spec j i), (Nat.eqb_spec j m); try lia;
        first [specialize (room ltac:(lia)) | clear room]; try subst j; try subst i;
        repeat match goal with |- context [Rabs ?x] =>
          first [rewrite (Rabs_pos_eq x) by lra | rewrite (Rabs_left1 x) by lra] end; lra. }
  assert (other : cost m t N (two_cuts m k N N N) - cost m t N (two_cuts m k (INR n) N N) = 2).
  { unfold cost. rewrite <- sum_minus.
    rewrite (sum_ext (S m) _ (fun j => (if Nat.eqb j 0 then 1 else 0) + (if Nat.eqb j k then 1 else 0))).
    - rewrite !sum_plus, !sum_only by lia. lra.
    - intros j less. pose proof (nonneg j ltac:(lia)) as t0. pose proof (rest' j ltac:(lia)) as room.
      assert (0 <= t j * N) by (apply Rmult_le_pos; lra). assert (INR n = N - 1) as -> by (unfold N; ring).
      unfold cell, two_cuts.
      destruct (Nat.eqb_spec j 0), (Nat.eqb_spec (S j) 0), (Nat.ltb_spec m j), (Nat.ltb_spec m (S j)),
        (Nat.leb_spec j k), (Nat.leb_spec (S j) k), (Nat.eqb_spec j k); try lia;
        first [specialize (room ltac:(lia)) | clear room]; try subst j; try subst k;
        repeat match goal with |- context [Rabs ?x] =>
          first [rewrite (Rabs_pos_eq x) by lra | rewrite (Rabs_left1 x) by lra] end; lra. }
  rewrite !Rplus_0_l, !Rplus_0_r. fold N. lra.
Qed.
