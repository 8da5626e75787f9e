(* The score of joint quantiles, docs/reference/mechanisms/joint_quantiles.md.

   m points cut the records in m + 1 cells, counted from 0 here; t j is the share of the records that is wanted in cell j. A
   cut is a real number of records; point j is o j, for j from 1 to m. The score is minus the least sum of |cell - wanted|
   over all cuts that the points satisfy: minus `least` below. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Sums Records Rank.
Import ListNotations.
Open Scope R_scope.

(* A point with L records below it and E at it satisfies the cut L if E = 0, and else all from L + 1/2 to L + E - 1/2. *)
Definition lower (records : list Z) (x : Z) : R := IZR (tally (below x) records).
Definition tied (records : list Z) (x : Z) : R := IZR (tally (equal x) records).

Definition satisfies (records : list Z) (x : Z) (cut : R) : Prop :=
  (tied records x = 0 /\ cut = lower records x) \/
  (1 <= tied records x /\ lower records x + 1 / 2 <= cut <= lower records x + tied records x - 1 / 2).

Definition number (records : list Z) : R := IZR (total records).

(* Cuts from c 0 = 0 to c (m + 1) = n that do not fall. *)
Definition cuts (m : nat) (records : list Z) (o : nat -> Z) (c : nat -> R) : Prop :=
  c 0%nat = 0 /\ c (S m) = number records /\
  (forall j, (1 <= j <= m)%nat -> satisfies records (o j) (c j)) /\
  (forall j, (j <= m)%nat -> c j <= c (S j)).

Definition cell (c : nat -> R) (j : nat) : R := c (S j) - c j.

Definition cost (m : nat) (t : nat -> R) (n : R) (c : nat -> R) : R :=
  sum (S m) (fun j => Rabs (cell c j - t j * n)).

(* The greatest lower bound of the costs; it exists, below. *)
Definition least (m : nat) (t : nat -> R) (records : list Z) (o : nat -> Z) (v : R) : Prop :=
  (forall c, cuts m records o c -> v <= cost m t (number records) c) /\
  (forall u, (forall c, cuts m records o c -> u <= cost m t (number records) c) -> u <= v).

(* Shares: at least 0, 1 in all. Points: they do not descend. *)
Definition shares (m : nat) (t : nat -> R) : Prop :=
  (forall j, (j <= m)%nat -> 0 <= t j) /\ sum (S m) t = 1.

Definition ascending (m : nat) (o : nat -> Z) : Prop :=
  forall j, (1 <= j)%nat -> (S j <= m)%nat -> (o j <= o (S j))%Z.

(* ---- Numbers of records ---- *)

Lemma lower_nonneg : forall A x, 0 <= lower A x.
Proof. intros A x. apply IZR_le, tally_nonneg. Qed.

Lemma tied_cases : forall A x, tied A x = 0 \/ 1 <= tied A x.
Proof.
  intros A x. unfold tied. pose proof (tally_nonneg Z (equal x) A) as some.
  destruct (Z.eq_dec (tally (equal x) A) 0) as [none|one]; [left; rewrite none; reflexivity|right].
  apply IZR_le. lia.
Qed.

Lemma lower_step : forall A x y, (x < y)%Z -> lower A x + tied A x <= lower A y.
Proof.
  intros A x y less. unfold lower, tied. rewrite <- plus_IZR. apply IZR_le.
  induction A as [|r A IH]; cbn [tally]; [lia|].
  unfold below, equal in *. destruct (Z.ltb_spec r x), (Z.eqb_spec r x), (Z.ltb_spec r y); lia.
Qed.

Lemma within_number : forall A x, lower A x + tied A x <= number A.
Proof.
  intros A x. unfold lower, tied, number. rewrite <- plus_IZR. apply IZR_le.
  pose proof (three_sides x A). pose proof (tally_nonneg Z (above x) A). lia.
Qed.

Lemma number_more : forall a r b, number (a ++ r :: b) = number (a ++ b) + 1.
Proof.
  intros a r b. unfold number, total. rewrite !tally_app, tally_cons.
  replace (tally (fun _ : Z => true) a + (1 + tally (fun _ : Z => true) b))%Z
    with (tally (fun _ : Z => true) a + tally (fun _ : Z => true) b + 1)%Z by lia.
  rewrite (plus_IZR _ 1). reflexivity.
Qed.

Lemma lower_more : forall a r b x, lower (a ++ r :: b) x = lower (a ++ b) x + (if (r <? x)%Z then 1 else 0).
Proof.
  intros a r b x. unfold lower, below. rewrite !tally_app, tally_cons, !plus_IZR.
  destruct (r <? x)%Z; cbn; lra.
Qed.

Lemma tied_more : forall a r b x, tied (a ++ r :: b) x = tied (a ++ b) x + (if (r =? x)%Z then 1 else 0).
Proof.
  intros a r b x. unfold tied, equal. rewrite !tally_app, tally_cons, !plus_IZR.
  destruct (r =? x)%Z; cbn; lra.
Qed.

(* A cut that a point satisfies is among its records or beside them. *)
Lemma satisfies_within : forall A x c, satisfies A x c -> lower A x <= c <= lower A x + tied A x.
Proof. intros A x c [[none ->]|[some between]]; lra. Qed.

Lemma cuts_of_points_rise :
  forall A x y c d, (x < y)%Z -> satisfies A x c -> satisfies A y d -> c <= d.
Proof.
  intros A x y c d less one other. apply satisfies_within in one, other.
  pose proof (lower_step A x y less). lra.
Qed.

(* ---- One record more: every cut moves by s, from 0 to 1, and s does not fall ---- *)

Section OneMore.
  Variables (a b : list Z) (r : Z).
  Let A := a ++ b.
  Let B := a ++ r :: b.

  (* It comes. *)
  Definition up (x : Z) : R :=
    if (r <? x)%Z then 1 else if (x <? r)%Z then 0 else if Req_EM_T (tied A x) 0 then 1 / 2 else 0.

  Lemma up_within : forall x, 0 <= up x <= 1.
  Proof. intros x. unfold up. destruct (r <? x)%Z, (x <? r)%Z, (Req_EM_T (tied A x) 0); lra. Qed.

  Lemma up_rises : forall x y, (x <= y)%Z -> up x <= up y.
  Proof.
    intros x y le. destruct (Z.eq_dec x y) as [->|other]; [lra|]. unfold up.
    destruct (Z.ltb_spec r x), (Z.ltb_spec r y), (Z.ltb_spec x r), (Z.ltb_spec y r); try lia;
      destruct (Req_EM_T (tied A x) 0), (Req_EM_T (tied A y) 0); lra.
  Qed.

  Lemma up_satisfies : forall x c, satisfies A x c -> satisfies B x (c + up x).
  Proof.
    intros x c one. unfold satisfies, B in *. rewrite lower_more, tied_more. fold A. unfold up.
    destruct (Z.ltb_spec r x), (Z.ltb_spec x r), (Z.eqb_spec r x); try lia.
    - destruct one as [[none ->]|[some between]]; [left|right]; lra.
    - destruct one as [[none ->]|[some between]]; [left|right]; lra.
    - destruct (Req_EM_T (tied A x) 0) as [none|some].
      + destruct one as [[_ ->]|[some _]]; [right|]; lra.
      + destruct one as [[none _]|[one between]]; [contradiction|right]; lra.
  Qed.

  (* It goes; c is the cut with it. *)
  Definition down (x : Z) (c : R) : R :=
    if (r <? x)%Z then 1 else if (x <? r)%Z then 0
    else if Req_EM_T (tied A x) 0 then 1 / 2 else Rmin (c - lower A x - 1 / 2) 1.

  Lemma down_within : forall x c, satisfies B x c -> 0 <= down x c <= 1.
  Proof.
    intros x c one. unfold satisfies, B in one. rewrite lower_more, tied_more in one. fold A in one. unfold down.
    destruct (Z.ltb_spec r x), (Z.ltb_spec x r), (Z.eqb_spec r x); try lia; try lra.
    destruct (Req_EM_T (tied A x) 0); [lra|]. destruct (tied_cases A x); [contradiction|].
    split; [apply Rmin_glb; lra|apply Rmin_r].
  Qed.

  Lemma down_rises :
    forall x y c d, (x <= y)%Z -> c <= d -> satisfies B x c -> satisfies B y d ->
      down x c <= down y d /\ (x = y -> c - down x c <= d - down y d).
  Proof.
    intros x y c d le cd one other. destruct (Z.eq_dec x y) as [->|unlike].
    - unfold down. destruct (r <? y)%Z, (y <? r)%Z, (Req_EM_T (tied A y) 0); (split; [|intros _]); try lra;
        unfold Rmin; destruct (Rle_dec (c - lower A y - 1 / 2) 1), (Rle_dec (d - lower A y - 1 / 2) 1); lra.
    - split; [|contradiction]. pose proof (down_within x c one). pose proof (down_within y d other).
      unfold down in *.
      destruct (Z.ltb_spec r x), (Z.ltb_spec r y), (Z.ltb_spec x r), (Z.ltb_spec y r); try lia; lra.
  Qed.

  Lemma down_satisfies : forall x c, satisfies B x c -> satisfies A x (c - down x c).
  Proof.
    intros x c one. pose proof (down_within x c one) as between. revert between.
    unfold satisfies, B in *. rewrite lower_more, tied_more in one. fold A in one. unfold down.
    destruct (Z.ltb_spec r x), (Z.ltb_spec x r), (Z.eqb_spec r x); try lia; intros between.
    - destruct one as [[none ->]|[some both]]; [left|right]; lra.
    - destruct one as [[none ->]|[some both]]; [left|right]; lra.
    - destruct (Req_EM_T (tied A x) 0) as [none|some].
      + left. destruct one as [[none' _]|[some both]]; lra.
      + right. destruct (tied_cases A x) as [none|one_more]; [contradiction|]. split; [exact one_more|].
        destruct one as [[none' _]|[_ both]]; [lra|].
        unfold Rmin in *. destruct (Rle_dec (c - lower A x - 1 / 2) 1); lra.
  Qed.
End OneMore.

(* What a record in the cells changes: d j of it in cell j. *)
Definition one_record (m : nat) (d : nat -> R) : Prop :=
  (forall j, (j <= m)%nat -> 0 <= d j) /\ sum (S m) d = 1.

Lemma one_at_most : forall m d j, one_record m d -> (j <= m)%nat -> d j <= 1.
Proof.
  intros m d j [nonneg whole] le. rewrite <- whole. apply sum_term; [lia|]. intros i less. apply nonneg. lia.
Qed.

Lemma sum_cells : forall k c, sum k (cell c) = c k - c 0%nat.
Proof. intros k c. induction k as [|k IH]; cbn [sum]; [lra|]. rewrite IH. unfold cell. lra. Qed.

Lemma cells_nonneg : forall m A o c j, cuts m A o c -> (j <= m)%nat -> 0 <= cell c j.
Proof. intros m A o c j [_ [_ [_ rises]]] le. unfold cell. pose proof (rises j le). lra. Qed.

(* For cuts without the record there are cuts with it, and the cells gain one record among them. *)
Lemma record_comes :
  forall m a r b o c, ascending m o -> cuts m (a ++ b) o c ->
    exists c' d, cuts m (a ++ r :: b) o c' /\ one_record m d /\
      forall j, (j <= m)%nat -> cell c' j = cell c j + d j.
Proof.
  intros m a r b o c rising [first [last [good rises]]].
  set (s j := match j with O => 0 | _ => if (m <? j)%nat then 1 else up a b r (o j) end).
  assert (s_rises : forall j, (j <= m)%nat -> s j <= s (S j)).
  { intros j le. unfold s. destruct j as [|j].
    - destruct (Nat.ltb_spec m 1); [lra|]. apply up_within.
    - destruct (Nat.ltb_spec m (S j)); [lia|]. destruct (Nat.ltb_spec m (S (S j))); [apply up_within|].
      apply up_rises, rising; lia. }
  exists (fun j => c j + s j), (cell s). split; [|split].
  - split; [unfold s; lra|]. split; [|split].
    + rewrite last, number_more. unfold s. destruct (Nat.ltb_spec m (S m)); [lra|lia].
    + intros j [one le]. unfold s. destruct j as [|j]; [lia|]. destruct (Nat.ltb_spec m (S j)); [lia|].
      apply up_satisfies, good. lia.
    + intros j le. pose proof (rises j le). pose proof (s_rises j le). lra.
  - split; [intros j le; unfold cell; pose proof (s_rises j le); lra|]. rewrite sum_cells.
    unfold s. destruct (Nat.ltb_spec m (S m)); [lra|lia].
  - intros j le. unfold cell. ring.
Qed.

(* For cuts with the record there are cuts without it, and the cells lose one record among them. *)
Lemma record_goes :
  forall m a r b o c, ascending m o -> cuts m (a ++ r :: b) o c ->
    exists c' d, cuts m (a ++ b) o c' /\ one_record m d /\
      forall j, (j <= m)%nat -> cell c' j = cell c j - d j.
Proof.
  intros m a r b o c rising [first [last [good rises]]].
  set (s j := match j with O => 0 | _ => if (m <? j)%nat then 1 else down a b r (o j) (c j) end).
  assert (inside : forall j, (1 <= j <= m)%nat -> s j = down a b r (o j) (c j)).
  { intros j [one le]. unfold s. destruct j as [|j]; [lia|]. destruct (Nat.ltb_spec m (S j)); [lia|reflexivity]. }
  assert (at_last : s (S m) = 1) by (unfold s; destruct (Nat.ltb_spec m (S m)); [reflexivity|lia]).
  assert (at_first : s 0%nat = 0) by reflexivity.
  assert (fits : forall j, (1 <= j <= m)%nat -> satisfies (a ++ b) (o j) (c j - s j)).
  { intros j le. rewrite inside by exact le. apply (down_satisfies a b r), good. exact le. }
  clearbody s.
  assert (s_rises : forall j, (j <= m)%nat -> s j <= s (S j) /\ c j - s j <= c (S j) - s (S j)).
  { intros j le. destruct (Nat.eq_dec j 0) as [->|later]; [|destruct (Nat.eq_dec j m) as [->|earlier]].
    - rewrite at_first, first. destruct (Nat.eq_dec m 0) as [->|some].
      + rewrite at_last, last, number_more. split; [lra|].
        assert (0 <= number (a ++ b)) by apply IZR_le, tally_nonneg. lra.
      + rewrite inside by lia. pose proof (down_within a b r (o 1%nat) (c 1%nat) (good 1%nat ltac:(lia))).
        split; [lra|]. pose proof (fits 1%nat ltac:(lia)) as fit. apply satisfies_within in fit.
        rewrite inside in fit by lia. pose proof (lower_nonneg (a ++ b) (o 1%nat)). lra.
    - rewrite at_last, last, number_more, inside by lia.
      pose proof (down_within a b r (o m) (c m) (good m ltac:(lia))). split; [lra|].
      pose proof (fits m ltac:(lia)) as fit. apply satisfies_within in fit. rewrite inside in fit by lia.
      pose proof (within_number (a ++ b) (o m)). lra.
    - pose proof (rising j ltac:(lia) ltac:(lia)) as order.
      pose proof (fits j ltac:(lia)) as here. pose proof (fits (S j) ltac:(lia)) as next.
      rewrite !inside in * by lia.
      destruct (down_rises a b r (o j) (o (S j)) (c j) (c (S j)) order (rises j le)
        (good j ltac:(lia)) (good (S j) ltac:(lia))) as [up_to same].
      split; [exact up_to|]. destruct (Z.eq_dec (o j) (o (S j))) as [equal|unlike]; [exact (same equal)|].
      apply (cuts_of_points_rise (a ++ b) (o j) (o (S j))); [lia|exact here|exact next]. }
  exists (fun j => c j - s j), (cell s). split; [|split].
  - split; [lra|]. split; [rewrite last, at_last, number_more; lra|]. split; [exact fits|].
    intros j le. apply (s_rises j le).
  - split; [intros j le; unfold cell; pose proof (s_rises j le); lra|]. rewrite sum_cells. lra.
  - intros j le. unfold cell. ring.
Qed.

(* ---- How far the sum moves ---- *)

(* The numbers that the shares have: `low` at most each of them, `low_positive` at most each above zero. *)
Definition below_shares (m : nat) (t : nat -> R) (low low_positive : R) : Prop :=
  0 <= low <= 1 /\ low_positive <= 1 /\
  forall j, (j <= m)%nat -> low <= t j /\ (t j = 0 \/ low_positive <= t j).

Lemma Rabs_add : forall x y, Rabs (x + y) <= Rabs x + Rabs y.
Proof. exact Rabs_triang. Qed.

(* For one cell. With d of a record more, and as n grows by one; then with d less. *)
Lemma cell_gains :
  forall w t n d low, low <= t -> 0 <= low <= 1 -> 0 <= d <= 1 ->
    Rabs (w + d - t * (n + 1)) <= Rabs (w - t * n) + (2 * (1 - low) * d - (d - t)).
Proof.
  intros w t n d low le lows between.
  replace (w + d - t * (n + 1)) with (w - t * n + (d - t)) by ring.
  pose proof (Rabs_add (w - t * n) (d - t)) as triangle.
  assert (part : Rabs (d - t) <= 2 * (1 - low) * d - (d - t)).
  { assert (0 <= (1 - low) * d) by (apply Rmult_le_pos; lra).
    assert (low * d <= low * 1) by (apply Rmult_le_compat_l; lra).
    apply Rabs_le. lra. }
  lra.
Qed.

Lemma cell_loses :
  forall w t n d low, 0 <= t -> t = 0 \/ low <= t -> low <= 1 -> 0 <= d <= 1 -> 0 <= w - d ->
    Rabs (w - d - t * n) <= Rabs (w - t * (n + 1)) + (2 * (1 - low) * d - (d - t)).
Proof.
  intros w t n d low t0 le lows between stays.
  assert (nonneg : 0 <= (1 - low) * d) by (apply Rmult_le_pos; lra).
  destruct le as [zero|le].
  - subst t. rewrite !Rabs_pos_eq by lra. lra.
  - replace (w - d - t * n) with (w - t * (n + 1) + - (d - t)) by ring.
    pose proof (Rabs_add (w - t * (n + 1)) (- (d - t))) as triangle. rewrite Rabs_Ropp in triangle.
    assert (part : Rabs (d - t) <= 2 * (1 - low) * d - (d - t)).
    { assert (low * d <= t) by nra. apply Rabs_le. lra. }
    lra.
Qed.

Lemma sum_of_parts :
  forall m t d low, one_record m d -> shares m t ->
    sum (S m) (fun j => 2 * (1 - low) * d j - (d j - t j)) = 2 * (1 - low).
Proof.
  intros m t d low [_ whole] [_ all]. rewrite !sum_minus, sum_scal, whole, all. ring.
Qed.

Lemma least_exists :
  forall m t records o, (exists c, cuts m records o c) -> exists v, least m t records o v.
Proof.
  intros m t records o [c some].
  destruct (completeness (fun x => exists d, cuts m records o d /\ x = - cost m t (number records) d))
    as [v [upper low]].
  - exists 0. intros x [d [_ ->]].
    assert (0 <= cost m t (number records) d) by (apply sum_nonneg; intros; apply Rabs_pos). lra.
  - exists (- cost m t (number records) c), c. auto.
  - exists (- v). split.
    + intros d one. assert (- cost m t (number records) d <= v) by (apply upper; exists d; auto). lra.
    + intros u under. assert (v <= - u); [|lra]. apply low. intros x [d [one ->]].
      specialize (under d one). lra.
Qed.

(* A record that comes adds at most 2 (1 - least share) to the least sum, and takes at most 2 (1 - least share above 0)
   from it. *)
Theorem joint_one_more :
  forall m t low low_positive before after o v w,
    shares m t -> below_shares m t low low_positive -> ascending m o -> more before after ->
    least m t before o v -> least m t after o w ->
    - (2 * (1 - low_positive)) <= w - v <= 2 * (1 - low).
Proof.
  intros m t low low_positive before after o v w whole [lows [low_one each]] rising [a [r [b [-> ->]]]] old new.
  split.
  - assert (v - 2 * (1 - low_positive) <= w); [|lra]. apply (proj2 new). intros c one.
    destruct (record_goes m a r b o c rising one) as [c' [d [fits [record cells]]]].
    assert (v <= cost m t (number (a ++ b)) c') as at_least by (apply (proj1 old); exact fits).
    assert (cost m t (number (a ++ b)) c' <= cost m t (number (a ++ r :: b)) c + 2 * (1 - low_positive)); [|lra].
    rewrite <- (sum_of_parts m t d low_positive record whole). unfold cost. rewrite <- sum_plus. apply sum_le.
    intros j less. rewrite number_more, cells by lia. destruct (each j ltac:(lia)) as [_ above_zero].
    apply cell_loses; [apply whole; lia|exact above_zero|exact low_one| |].
    + split; [apply record; lia|apply (one_at_most m d j record); lia].
    + rewrite <- cells by lia. apply (cells_nonneg m (a ++ b) o c' j fits). lia.
  - assert (w - 2 * (1 - low) <= v); [|lra]. apply (proj2 old). intros c one.
    destruct (record_comes m a r b o c rising one) as [c' [d [fits [record cells]]]].
    assert (w <= cost m t (number (a ++ r :: b)) c') as at_least by (apply (proj1 new); exact fits).
    assert (cost m t (number (a ++ r :: b)) c' <= cost m t (number (a ++ b)) c + 2 * (1 - low)); [|lra].
    rewrite <- (sum_of_parts m t d low record whole). unfold cost. rewrite <- sum_plus. apply sum_le.
    intros j less. rewrite number_more, cells by lia. destruct (each j ltac:(lia)) as [le _].
    apply cell_gains; [exact le|exact lows|].
    split; [apply record; lia|apply (one_at_most m d j record); lia].
Qed.

Theorem joint_add_remove :
  forall m t low low_positive before after o o' v v' w w',
    shares m t -> below_shares m t low low_positive -> ascending m o -> ascending m o' ->
    one_apart before after ->
    least m t before o v -> least m t after o w -> least m t before o' v' -> least m t after o' w' ->
    (w - v) - (w' - v') <= 2 * (1 - low) + 2 * (1 - low_positive).
Proof.
  intros m t low low_positive before after o o' v v' w w' whole lows one other near old new old' new'.
  destruct near as [near|near].
  - pose proof (joint_one_more m t low low_positive _ _ o v w whole lows one near old new).
    pose proof (joint_one_more m t low low_positive _ _ o' v' w' whole lows other near old' new'). lra.
  - pose proof (joint_one_more m t low low_positive _ _ o w v whole lows one near new old).
    pose proof (joint_one_more m t low low_positive _ _ o' w' v' whole lows other near new' old'). lra.
Qed.

(* One record replaced moves the least sum by 2 at most. *)
Lemma replaced_costs :
  forall m t a r s b o v w, ascending m o ->
    least m t (a ++ r :: b) o v -> least m t (a ++ s :: b) o w -> w - v <= 2.
Proof.
  intros m t a r s b o v w rising old new.
  assert (w - 2 <= v); [|lra]. apply (proj2 old). intros c one.
  destruct (record_goes m a r b o c rising one) as [c' [d [fits [record cells]]]].
  destruct (record_comes m a s b o c' rising fits) as [c'' [e [fits' [record' cells']]]].
  assert (w <= cost m t (number (a ++ s :: b)) c'') as at_least by (apply (proj1 new); exact fits').
  assert (cost m t (number (a ++ s :: b)) c'' <= cost m t (number (a ++ r :: b)) c + 2); [|lra].
  replace 2 with (sum (S m) (fun j => d j + e j)) by (rewrite sum_plus, (proj2 record), (proj2 record'); ring).
  unfold cost. rewrite <- sum_plus. apply sum_le. intros j less. rewrite !number_more.
  rewrite cells', cells by lia.
  pose proof (proj1 record j ltac:(lia)). pose proof (proj1 record' j ltac:(lia)).
  replace (cell c j - d j + e j - t j * (number (a ++ b) + 1))
    with (cell c j - t j * (number (a ++ b) + 1) + (e j - d j)) by ring.
  eapply Rle_trans; [apply Rabs_add|]. apply Rplus_le_compat_l. apply Rabs_le. lra.
Qed.

Theorem joint_replace_one :
  forall m t before after o o' v v' w w', ascending m o -> ascending m o' -> replaced before after ->
    least m t before o v -> least m t after o w -> least m t before o' v' -> least m t after o' w' ->
    - 2 <= w - v <= 2 /\ (w - v) - (w' - v') <= 4.
Proof.
  intros m t before after o o' v v' w w' one other [a [r [s [b [-> ->]]]]] old new old' new'.
  pose proof (replaced_costs m t a r s b o v w one old new).
  pose proof (replaced_costs m t a s r b o w v one new old).
  pose proof (replaced_costs m t a r s b o' v' w' other old' new').
  pose proof (replaced_costs m t a s r b o' w' v' other new' old'). lra.
Qed.

(* ---- One quantile, alpha = 0 or 1: all sums move the same way when a record is replaced ---- *)

Definition least_cut (records : list Z) (x : Z) : R :=
  lower records x + (if Req_EM_T (tied records x) 0 then 0 else 1 / 2).

Definition greatest_cut (records : list Z) (x : Z) : R :=
  lower records x + tied records x - (if Req_EM_T (tied records x) 0 then 0 else 1 / 2).

Lemma cuts_of_one :
  forall A o c, cuts 1 A o c <-> c 0%nat = 0 /\ c 2%nat = number A /\ satisfies A (o 1%nat) (c 1%nat).
Proof.
  intros A o c. split.
  - intros [first [last [good _]]]. auto.
  - intros [first [last good]]. split; [exact first|split; [exact last|split]].
    + intros j one. replace j with 1%nat by lia. exact good.
    + pose proof (satisfies_within A (o 1%nat) (c 1%nat) good). pose proof (lower_nonneg A (o 1%nat)).
      pose proof (within_number A (o 1%nat)). intros [|[|j]] le; [lra|lra|lia].
Qed.

(* The cuts of a point, and a way to make cuts of one of them. *)
Definition cut_at (A : list Z) (x : R) (j : nat) : R := match j with O => 0 | 1%nat => x | _ => number A end.

Lemma satisfies_ends : forall A x, satisfies A x (least_cut A x) /\ satisfies A x (greatest_cut A x) /\
  forall c, satisfies A x c -> least_cut A x <= c <= greatest_cut A x.
Proof.
  intros A x. unfold satisfies, least_cut, greatest_cut.
  destruct (Req_EM_T (tied A x) 0) as [none|some].
  - rewrite none. split; [left; lra|split; [left; lra|]]. intros c [[_ ->]|[one _]]; lra.
  - destruct (tied_cases A x) as [none|one]; [contradiction|].
    split; [right; lra|split; [right; lra|]]. intros c [[none _]|[_ between]]; [contradiction|lra].
Qed.

Definition only_last (j : nat) : R := match j with 1%nat => 1 | _ => 0 end.
Definition only_first (j : nat) : R := match j with 0%nat => 1 | _ => 0 end.

Lemma least_of_minimum :
  forall A o v, least 1 only_last A o v -> v = 2 * least_cut A (o 1%nat).
Proof.
  intros A o v [under over]. destruct (satisfies_ends A (o 1%nat)) as [good [_ between]].
  assert (value : forall c, cuts 1 A o c -> cost 1 only_last (number A) c = 2 * c 1%nat).
  { intros c one. apply cuts_of_one in one. destruct one as [first [last fits]].
    apply satisfies_within in fits. pose proof (lower_nonneg A (o 1%nat)).
    unfold cost, cell. cbn. rewrite first, last. rewrite Rabs_pos_eq, Rabs_left1 by lra. lra. }
  apply Rle_antisym.
  - assert (one : cuts 1 A o (cut_at A (least_cut A (o 1%nat)))) by (apply cuts_of_one; cbn; auto).
    specialize (under _ one). rewrite value in under by exact one. exact under.
  - apply over. intros c one. rewrite value by exact one. apply cuts_of_one in one.
    destruct one as [_ [_ fits]]. specialize (between _ fits). lra.
Qed.

Lemma least_of_maximum :
  forall A o v, least 1 only_first A o v -> v = 2 * (number A - greatest_cut A (o 1%nat)).
Proof.
  intros A o v [under over]. destruct (satisfies_ends A (o 1%nat)) as [_ [good between]].
  assert (value : forall c, cuts 1 A o c -> cost 1 only_first (number A) c = 2 * (number A - c 1%nat)).
  { intros c one. apply cuts_of_one in one. destruct one as [first [last fits]].
    apply satisfies_within in fits. pose proof (within_number A (o 1%nat)).
    unfold cost, cell. cbn. rewrite first, last. rewrite Rabs_left1, Rabs_pos_eq by lra. lra. }
  apply Rle_antisym.
  - assert (one : cuts 1 A o (cut_at A (greatest_cut A (o 1%nat)))) by (apply cuts_of_one; cbn; auto).
    specialize (under _ one). rewrite value in under by exact one. exact under.
  - apply over. intros c one. rewrite value by exact one. apply cuts_of_one in one.
    destruct one as [_ [_ fits]]. specialize (between _ fits). lra.
Qed.

(* A record that goes up lowers both ends of every point or leaves them. *)
Lemma ends_fall :
  forall a r s b x, (r <= s)%Z ->
    least_cut (a ++ s :: b) x <= least_cut (a ++ r :: b) x /\
    greatest_cut (a ++ s :: b) x <= greatest_cut (a ++ r :: b) x.
Proof.
  intros a r s b x le. unfold least_cut, greatest_cut. rewrite !lower_more, !tied_more.
  destruct (Z.ltb_spec s x), (Z.ltb_spec r x), (Z.eqb_spec s x), (Z.eqb_spec r x); try lia;
    destruct (tied_cases (a ++ b) x) as [none|some];
    repeat match goal with |- context [Req_EM_T ?p ?q] => destruct (Req_EM_T p q) end; lra.
Qed.

Theorem joint_replace_one_at_the_ends :
  forall t before after o o' v v' w w', t = only_last \/ t = only_first -> replaced before after ->
    ascending 1 o -> ascending 1 o' ->
    least 1 t before o v -> least 1 t after o w -> least 1 t before o' v' -> least 1 t after o' w' ->
    (w - v) - (w' - v') <= 2.
Proof.
  intros t before after o o' v v' w w' at_end near one other old new old' new'.
  destruct (joint_replace_one 1 t before after o o' v v' w w' one other near old new old' new') as [_ _].
  pose proof (joint_replace_one 1 t before after o o v v w w one one near old new old new) as [first _].
  pose proof (joint_replace_one 1 t before after o' o' v' v' w' w' other other near old' new' old' new') as [second _].
  destruct near as [a [r [s [b [-> ->]]]]].
  destruct at_end as [-> | ->].
  - apply least_of_minimum in old, new, old', new'. subst.
    destruct (Z.le_ge_cases r s) as [up|down].
    + destruct (ends_fall a r s b (o 1%nat) up), (ends_fall a r s b (o' 1%nat) up). lra.
    + destruct (ends_fall a s r b (o 1%nat) ltac:(lia)), (ends_fall a s r b (o' 1%nat) ltac:(lia)). lra.
  - apply least_of_maximum in old, new, old', new'. subst.
    assert (number (a ++ s :: b) = number (a ++ r :: b)) as same by (rewrite !number_more; reflexivity).
    rewrite same in *.
    destruct (Z.le_ge_cases r s) as [up|down].
    + destruct (ends_fall a r s b (o 1%nat) up), (ends_fall a r s b (o' 1%nat) up). lra.
    + destruct (ends_fall a s r b (o 1%nat) ltac:(lia)), (ends_fall a s r b (o' 1%nat) ltac:(lia)). lra.
Qed.
