(* How joint quantiles are scored and drawn, docs/reference/mechanisms/joint_quantiles.md: the best cuts one after the other,
   and the multisets of Polya's urn. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Sums Records Rank JointQuantiles.
Open Scope R_scope.

(* ---- The shortest way through intervals: move as late and as little as possible ---- *)

(* The number of an interval that is nearest to x. *)
Definition nearest (low high x : R) : R := Rmin (Rmax x low) high.

Lemma nearest_within : forall low high x, low <= high -> low <= nearest low high x <= high.
Proof.
  intros low high x le. unfold nearest, Rmin, Rmax.
  destruct (Rle_dec x low); [destruct (Rle_dec low high)|destruct (Rle_dec x high)]; lra.
Qed.

(* To x by y, and on to z: no shorter than by the nearest number. *)
Lemma one_stop :
  forall low high x y z, low <= y <= high ->
    Rabs (nearest low high x - x) + Rabs (z - nearest low high x) <= Rabs (y - x) + Rabs (z - y).
Proof.
  intros low high x y z between. unfold nearest, Rmin, Rmax, Rabs.
  destruct (Rle_dec x low); [destruct (Rle_dec low high)|destruct (Rle_dec x high)];
    repeat match goal with |- context [Rcase_abs ?a] => destruct (Rcase_abs a) end; lra.
Qed.

(* The places p 0 = 0, p 1, ...; place j + 1 is in the interval j. *)
Fixpoint stops (low high : nat -> R) (j : nat) : R :=
  match j with
  | O => 0
  | S k => nearest (low k) (high k) (stops low high k)
  end.

Definition way (p : nat -> R) (j : nat) : R := sum j (fun i => Rabs (p (S i) - p i)).

Theorem shortest_way :
  forall low high p m z, p 0%nat = 0 -> (forall j, (j < m)%nat -> low j <= p (S j) <= high j) ->
    way (stops low high) m + Rabs (z - stops low high m) <= way p m + Rabs (z - p m).
Proof.
  intros low high p. induction m as [|m IH]; intros z first within.
  - cbn [way stops]. unfold way. cbn [sum]. rewrite first. lra.
  - pose proof (IH (p (S m)) first (fun j less => within j (Nat.lt_lt_succ_r _ _ less))) as before.
    pose proof (one_stop (low m) (high m) (stops low high m) (p (S m)) z (within m (Nat.lt_succ_diag_r m))) as last.
    change (nearest (low m) (high m) (stops low high m)) with (stops low high (S m)) in last.
    unfold way in *. cbn [sum]. lra.
Qed.

(* ---- The best cuts ---- *)

(* The wanted number of records up to point j. *)
Definition wanted_up_to (t : nat -> R) (n : R) (j : nat) : R := sum j t * n.

(* In offsets e j = c j - wanted j, from 0 to 0, a cost is a way. *)
Definition offset_low (A : list Z) (t : nat -> R) (o : nat -> Z) (j : nat) : R :=
  least_cut A (o (S j)) - wanted_up_to t (number A) (S j).

Definition offset_high (A : list Z) (t : nat -> R) (o : nat -> Z) (j : nat) : R :=
  greatest_cut A (o (S j)) - wanted_up_to t (number A) (S j).

Definition best_cut (m : nat) (A : list Z) (t : nat -> R) (o : nat -> Z) (j : nat) : R :=
  if (m <? j)%nat then number A else stops (offset_low A t o) (offset_high A t o) j + wanted_up_to t (number A) j.

Definition best_cost (m : nat) (A : list Z) (t : nat -> R) (o : nat -> Z) : R :=
  let p := stops (offset_low A t o) (offset_high A t o) in way p m + Rabs (0 - p m).

Lemma cost_is_a_way :
  forall m t n c, c (S m) = n -> sum (S m) t = 1 ->
    cost m t n c = way (fun j => c j - wanted_up_to t n j) m + Rabs (0 - (c m - wanted_up_to t n m)).
Proof.
  intros m t n c last whole. unfold cost, way. cbn [sum]. f_equal.
  - apply sum_ext. intros j _. unfold cell, wanted_up_to. cbn [sum]. f_equal. ring.
  - unfold cell, wanted_up_to. rewrite last. cbn [sum] in whole. replace (t m) with (1 - sum m t) by lra. f_equal. ring.
Qed.

Lemma least_cut_le : forall A x, least_cut A x <= greatest_cut A x.
Proof.
  intros A x. destruct (satisfies_ends A x) as [good [_ between]]. apply (between _ good).
Qed.

Lemma greatest_cut_rises : forall A x y, (x <= y)%Z -> greatest_cut A x <= greatest_cut A y.
Proof.
  intros A x y le. destruct (Z.eq_dec x y) as [->|other]; [lra|].
  destruct (satisfies_ends A x) as [_ [one _]]. destruct (satisfies_ends A y) as [_ [two _]].
  apply (cuts_of_points_rise A x y); [lia|exact one|exact two].
Qed.

(* All between the ends of what a point satisfies satisfies it. *)
Lemma satisfies_between :
  forall A x c, least_cut A x <= c <= greatest_cut A x -> satisfies A x c.
Proof.
  intros A x c. unfold satisfies, least_cut, greatest_cut.
  destruct (Req_EM_T (tied A x) 0) as [none|some]; [rewrite none; left; lra|].
  destruct (tied_cases A x) as [none|one]; [contradiction|right; lra].
Qed.

Lemma nearest_unless_high : forall low high x, low <= high -> x <= high -> x <= nearest low high x.
Proof.
  intros low high x le below. unfold nearest, Rmin, Rmax.
  destruct (Rle_dec x low); [destruct (Rle_dec low high)|destruct (Rle_dec x high)]; lra.
Qed.

Lemma best_cut_satisfies :
  forall m A t o j, (1 <= j <= m)%nat -> satisfies A (o j) (best_cut m A t o j).
Proof.
  intros m A t o j between. unfold best_cut. destruct (Nat.ltb_spec m j) as [far|_]; [lia|].
  destruct j as [|j]; [lia|]. cbn [stops]. apply satisfies_between.
  assert (le : offset_low A t o j <= offset_high A t o j)
    by (unfold offset_low, offset_high; pose proof (least_cut_le A (o (S j))); lra).
  pose proof (nearest_within _ _ (stops (offset_low A t o) (offset_high A t o) j) le).
  unfold offset_low, offset_high in *. lra.
Qed.

(* Move as late and as little as possible: these cuts do not fall, the points satisfy them, and no others cost less. *)
Theorem best_cuts_are_best :
  forall m t A o, shares m t -> ascending m o ->
    cuts m A o (best_cut m A t o) /\
    cost m t (number A) (best_cut m A t o) = best_cost m A t o /\
    least m t A o (best_cost m A t o).
Proof.
  intros m t A o [nonneg whole] rising. set (n := number A).
  assert (n0 : 0 <= n) by apply IZR_le, tally_nonneg.
  set (p := stops (offset_low A t o) (offset_high A t o)).
  assert (inside : forall j, (j <= m)%nat -> best_cut m A t o j = p j + wanted_up_to t n j).
  { intros j le. unfold best_cut. destruct (Nat.ltb_spec m j); [lia|reflexivity]. }
  assert (last : best_cut m A t o (S m) = n).
  { unfold best_cut. destruct (Nat.ltb_spec m (S m)); [reflexivity|lia]. }
  assert (first : best_cut m A t o 0 = 0).
  { rewrite inside by lia. unfold p, wanted_up_to. cbn [stops sum]. ring. }
  assert (fits : cuts m A o (best_cut m A t o)).
  { split; [exact first|split; [exact last|split; [intros j between; apply best_cut_satisfies; exact between|]]].
    intros j le. destruct (Nat.eq_dec j m) as [->|before].
    - rewrite last. destruct (Nat.eq_dec m 0) as [->|some]; [lra|].
      pose proof (satisfies_within A (o m) _ (best_cut_satisfies m A t o m ltac:(lia))).
      pose proof (within_number A (o m)). unfold n in *. lra.
    - assert (high : best_cut m A t o j <= greatest_cut A (o (S j))).
      { destruct j as [|j].
        - rewrite first. pose proof (satisfies_ends A (o 1%nat)) as [_ [top _]].
          apply satisfies_within in top. pose proof (lower_nonneg A (o 1%nat)). lra.
        - pose proof (best_cut_satisfies m A t o (S j) ltac:(lia)) as here.
          destruct (satisfies_ends A (o (S j))) as [_ [_ between]]. specialize (between _ here).
          pose proof (greatest_cut_rises A (o (S j)) (o (S (S j))) (rising (S j) ltac:(lia) ltac:(lia))). lra. }
      rewrite !inside in * by lia. unfold p at 2. cbn [stops]. fold p.
      assert (step : wanted_up_to t n (S j) = wanted_up_to t n j + t j * n)
        by (unfold wanted_up_to; cbn [sum]; ring).
      assert (0 <= t j * n) by (apply Rmult_le_pos; [apply nonneg; lia|exact n0]).
      assert (le' : offset_low A t o j <= offset_high A t o j)
        by (unfold offset_low, offset_high; pose proof (least_cut_le A (o (S j))); lra).
      destruct (Rle_dec (p j) (offset_high A t o j)) as [low|above].
      + pose proof (nearest_unless_high _ _ (p j) le' low). lra.
      + replace (nearest (offset_low A t o j) (offset_high A t o j) (p j)) with (offset_high A t o j).
        * unfold offset_high. fold n. lra.
        * unfold nearest, Rmin, Rmax. destruct (Rle_dec (p j) (offset_low A t o j)); [lra|].
          destruct (Rle_dec (p j) (offset_high A t o j)); lra. }
  assert (price : cost m t n (best_cut m A t o) = best_cost m A t o).
  { rewrite cost_is_a_way by assumption. unfold best_cost. fold p. unfold way.
    rewrite (sum_ext m _ (fun i => Rabs (p (S i) - p i))).
    - rewrite inside by lia. f_equal. f_equal. ring.
    - intros j less. rewrite !inside by lia. f_equal. ring. }
  split; [exact fits|]. split; [exact price|]. split.
  - intros c [c_first [c_last [c_good _]]]. fold n. rewrite cost_is_a_way by assumption.
    apply (shortest_way (offset_low A t o) (offset_high A t o) (fun j => c j - wanted_up_to t n j) m 0).
    + unfold wanted_up_to. cbn [sum]. rewrite c_first. ring.
    + intros j less. destruct (satisfies_ends A (o (S j))) as [_ [_ between]].
      specialize (between _ (c_good (S j) ltac:(lia))). unfold offset_low, offset_high. fold n. lra.
  - intros u under. rewrite <- price. apply under. exact fits.
Qed.

(* ---- Polya's urn: k members of s, each a new one or a copy of one drawn before ---- *)

(* The probability that the numbers of copies after k draws are c: the last draw was of some x, of which c x - 1 were
   there; it is a new one, one of s + k - 1 equally likely cases, or a copy of one of those. *)
Fixpoint urn (s k : nat) (c : nat -> nat) : R :=
  match k with
  | O => 1
  | S j => sum s (fun x =>
      match c x with
      | O => 0
      | S y => urn s j (fun z => if Nat.eqb z x then y else c z) * ((1 + INR y) / INR (s + j))
      end)
  end.

Definition copies_in_all (s : nat) (c : nat -> nat) : R := sum s (fun x => INR (c x)).

Lemma one_copy_less :
  forall s c x y, (x < s)%nat -> c x = S y ->
    copies_in_all s (fun z => if Nat.eqb z x then y else c z) = copies_in_all s c - 1.
Proof.
  intros s c x y less same. unfold copies_in_all.
  rewrite (sum_ext s _ (fun z => INR (c z) - (if Nat.eqb z x then 1 else 0))).
  - rewrite sum_minus, sum_only by exact less. reflexivity.
  - intros z _. destruct (Nat.eqb_spec z x) as [->|other]; [rewrite same, S_INR|]; ring.
Qed.

(* All have the same probability, 1 over the number of multisets. *)
Fixpoint even_chance (s k : nat) : R :=
  match k with
  | O => 1
  | S j => even_chance s j * (INR (S j) / INR (s + j))
  end.

Theorem urn_is_even :
  forall s k c, (0 < s)%nat -> copies_in_all s c = INR k -> urn s k c = even_chance s k.
Proof.
  intros s. induction k as [|k IH]; intros c some all; [reflexivity|]. cbn [urn even_chance].
  rewrite (sum_ext s _ (fun x => INR (c x) * (even_chance s k / INR (s + k)))).
  - rewrite sum_scal_r. fold (copies_in_all s c). rewrite all. field. apply not_0_INR. lia.
  - intros x less. destruct (c x) as [|y] eqn:same; [cbn [INR]; ring|].
    rewrite IH; [|exact some|].
    + rewrite S_INR. field. apply not_0_INR. lia.
    + rewrite (one_copy_less s c x y less same), all, S_INR. ring.
Qed.

Theorem even_chance_is_one_of_all :
  forall s k, (0 < s)%nat -> even_chance s k * Binomial.C (s + k - 1) k = 1.
Proof.
  intros s. induction k as [|k IH]; intros some.
  - unfold Binomial.C. rewrite Nat.sub_0_r. cbn [even_chance fact]. simpl (INR 1). field. apply INR_fact_neq_0.
  - assert (next : Binomial.C (s + S k - 1) (S k) = Binomial.C (s + k - 1) k * (INR (s + k) / INR (S k))).
    { unfold Binomial.C.
      replace (s + S k - 1)%nat with (S (s + k - 1)) by lia.
      replace (S (s + k - 1) - S k)%nat with (s - 1)%nat by lia.
      replace (s + k - 1 - k)%nat with (s - 1)%nat by lia.
      change (fact (S (s + k - 1))) with (S (s + k - 1) * fact (s + k - 1))%nat.
      change (fact (S k)) with (S k * fact k)%nat.
      replace (S (s + k - 1)) with (s + k)%nat by lia. rewrite !mult_INR. field.
      repeat split; try apply INR_fact_neq_0; apply not_0_INR; lia. }
    rewrite next. cbn [even_chance].
    replace (even_chance s k * (INR (S k) / INR (s + k)) * (Binomial.C (s + k - 1) k * (INR (s + k) / INR (S k))))
      with (even_chance s k * Binomial.C (s + k - 1) k) by (field; split; apply not_0_INR; lia).
    apply IH. exact some.
Qed.
