(* Answers one after the other, each question chosen by the answers before it: what they promise together, if what each
   promises, given those before, adds up to so much at most whatever is answered.

   A history is the list of the answers so far, the last one first. After the history h the next answer is one of
   `size h` candidates, with the law `p h` on one of the neighbours and `q h` on the other. *)

From Coq Require Import Reals Lra Lia List.
From Discreet Require Import Sums Range.
Import ListNotations.
Open Scope R_scope.

(* The sum of F over all histories of k more answers. *)
Fixpoint total (k : nat) (size : list nat -> nat) (F : list nat -> R) (h : list nat) : R :=
  match k with
  | O => F h
  | S k' => sum (size h) (fun i => total k' size F (i :: h))
  end.

(* The probability of a history. *)
Fixpoint path (p : list nat -> nat -> R) (h : list nat) : R :=
  match h with
  | [] => 1
  | i :: earlier => path p earlier * p earlier i
  end.

(* The probability of an event after k answers. *)
Definition chance (k : nat) (size : list nat -> nat) (p : list nat -> nat -> R) (E : list nat -> bool) : R :=
  total k size (fun h => if E h then path p h else 0) [].

(* k answers after h: each promises `promise n e` with an e that may depend on the answers before it, and these
   add up to no more than the budget. *)
Fixpoint adds_up (promise : nat -> R -> (nat -> R) -> (nat -> R) -> Prop)
    (k : nat) (size : list nat -> nat) (e : list nat -> R) (p q : list nat -> nat -> R)
    (budget : R) (h : list nat) : Prop :=
  match k with
  | O => 0 <= budget
  | S k' =>
      law (size h) (p h) /\ law (size h) (q h) /\ 0 <= e h /\ promise (size h) (e h) (p h) (q h) /\
      forall i, (i < size h)%nat -> adds_up promise k' size e p q (budget - e h) (i :: h)
  end.

(* What `SummedRange` states of two datasets: bounded ranges, one given the others, that add up to e. A public random
   number is an answer of range 0. *)
Definition summed_range k size e p q budget := adds_up bounded_range k size e p q budget [].

(* The mean of F after k more answers. *)
Fixpoint value (k : nat) (size : list nat -> nat) (p : list nat -> nat -> R) (F : list nat -> R) (h : list nat) : R :=
  match k with
  | O => F h
  | S k' => mean (size h) (p h) (fun i => value k' size p F (i :: h))
  end.

Lemma total_value :
  forall k size p F h, total k size (fun h => path p h * F h) h = path p h * value k size p F h.
Proof.
  induction k as [|k IH]; intros size p F h; cbn [total value]; [reflexivity|].
  unfold mean. rewrite <- sum_scal. apply sum_ext. intros i lt.
  rewrite IH. cbn [path]. ring.
Qed.

Lemma total_ext : forall k size F G h, (forall g, F g = G g) -> total k size F h = total k size G h.
Proof.
  induction k as [|k IH]; intros size F G h same; cbn [total]; [apply same|].
  apply sum_ext. intros i lt. apply IH. exact same.
Qed.

Definition event (E : list nat -> bool) (h : list nat) : R := if E h then 1 else 0.

Lemma chance_value : forall k size p E, chance k size p E = value k size p (event E) [].
Proof.
  intros k size p E. unfold chance.
  rewrite (total_ext k size _ (fun h => path p h * event E h)).
  - rewrite total_value. cbn [path]. ring.
  - intros g. unfold event. destruct (E g); ring.
Qed.

Lemma mean_monotone :
  forall n p f g, law n p -> (forall i, (i < n)%nat -> f i <= g i) -> mean n p f <= mean n p g.
Proof.
  intros n p f g [nonneg _] le. apply sum_le. intros i lt.
  apply Rmult_le_compat_l; [apply nonneg; exact lt|apply le; exact lt].
Qed.

Lemma mean_scal : forall n p c f, mean n p (fun i => c * f i) = c * mean n p f.
Proof. intros n p c f. unfold mean. rewrite <- sum_scal. apply sum_ext. intros; ring. Qed.

Lemma mean_affine :
  forall n p a c f, law n p -> mean n p (fun i => a + c * f i) = a + c * mean n p f.
Proof.
  intros n p a c f [_ one]. unfold mean.
  rewrite (sum_ext n _ (fun i => p i * a + c * (p i * f i))) by (intros; ring).
  rewrite sum_plus, sum_scal_r, sum_scal, one. ring.
Qed.

(* ---- epsilon-DP adds up ---- *)

(* Single answers are events. *)
Lemma private_points :
  forall n e p q i, private n e p q -> (i < n)%nat -> p i <= exp e * q i /\ q i <= exp e * p i.
Proof.
  intros n e p q i priv lt.
  assert (point : forall r, prob n r (fun j => Nat.eqb j i) = r i).
  { intros r. unfold prob. rewrite <- (sum_only n i (r i) lt). apply sum_ext. intros j lt_j.
    destruct (Nat.eqb_spec j i); [subst|]; reflexivity. }
  destruct (priv (fun j => Nat.eqb j i)) as [up down]. rewrite !point in *. split; assumption.
Qed.

Lemma adds_up_budget :
  forall promise k size e p q budget h, adds_up promise k size e p q budget h -> 0 <= budget.
Proof.
  induction k as [|k IH]; intros size e p q budget h each; cbn [adds_up] in each; [exact each|].
  destruct each as [lp [_ [e0 [_ rest]]]].
  destruct (law_some _ _ lp) as [i [lt _]].
  pose proof (IH _ _ _ _ _ _ (rest i lt)). lra.
Qed.

Lemma value_nonneg :
  forall promise k size e p q budget h F,
    adds_up promise k size e p q budget h -> (forall g, 0 <= F g <= 1) ->
    0 <= value k size p F h <= 1 /\ 0 <= value k size q F h <= 1.
Proof.
  induction k as [|k IH]; intros size e p q budget h F each unit; cbn [value]; [split; apply unit|].
  cbn [adds_up] in each. destruct each as [lp [lq [_ [_ rest]]]].
  split; apply mean_unit; try assumption; intros i lt;
    apply (IH _ _ _ _ _ _ F (rest i lt) unit).
Qed.

Lemma private_value :
  forall k size e p q budget h F,
    adds_up private k size e p q budget h -> (forall g, 0 <= F g <= 1) ->
    value k size p F h <= exp budget * value k size q F h /\
    value k size q F h <= exp budget * value k size p F h.
Proof.
  induction k as [|k IH]; intros size e p q budget h F each unit; cbn [value].
  - cbn in each. pose proof (exp_at_least_one budget each) as c1. destruct (unit h) as [F0 _].
    assert (0 <= (exp budget - 1) * F h) by (apply Rmult_le_pos; lra). lra.
  - cbn [adds_up] in each. destruct each as [lp [lq [e0 [priv rest]]]].
    replace budget with (e h + (budget - e h)) by ring. rewrite exp_plus.
    pose proof (exp_pos (e h)) as eh. pose proof (exp_pos (budget - e h)) as er.
    unfold mean. rewrite <- !sum_scal. split; apply sum_le; intros i lt;
      destruct (private_points _ _ _ _ i priv lt) as [up down];
      destruct (IH _ _ _ _ _ _ F (rest i lt) unit) as [near near'];
      destruct (value_nonneg _ _ _ _ _ _ _ _ F (rest i lt) unit) as [[u0 _] [v0 _]];
      pose proof (proj1 lp i lt) as p0; pose proof (proj1 lq i lt) as q0.
    + apply Rle_trans with (p h i * (exp (budget - e h) * value k size q F (i :: h))).
      * apply Rmult_le_compat_l; assumption.
      * assert (factor : 0 <= exp (budget - e h) * value k size q F (i :: h)) by (apply Rmult_le_pos; lra).
        pose proof (Rmult_le_compat_r _ _ _ factor up). lra.
    + apply Rle_trans with (q h i * (exp (budget - e h) * value k size p F (i :: h))).
      * apply Rmult_le_compat_l; assumption.
      * assert (factor : 0 <= exp (budget - e h) * value k size p F (i :: h)) by (apply Rmult_le_pos; lra).
        pose proof (Rmult_le_compat_r _ _ _ factor down). lra.
Qed.

Lemma event_unit : forall E g, 0 <= event E g <= 1.
Proof. intros E g. unfold event. destruct (E g); lra. Qed.

Theorem private_composes :
  forall k size e p q budget E,
    adds_up private k size e p q budget [] ->
    chance k size p E <= exp budget * chance k size q E /\
    chance k size q E <= exp budget * chance k size p E.
Proof.
  intros k size e p q budget E each. rewrite !chance_value.
  apply private_value with (e := e); [exact each|apply event_unit].
Qed.

(* ---- Bounded ranges add up in log-odds ---- *)

(* The probability whose odds are c times those of x. *)
Definition shifted (c x : R) : R := c * x / (1 + (c - 1) * x).

Lemma shifted_denominator : forall c x, 1 <= c -> 0 <= x -> 1 <= 1 + (c - 1) * x.
Proof.
  intros c x c1 x0. assert (0 <= (c - 1) * x) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma below_shifted :
  forall c x y, 1 <= c -> 0 <= x <= 1 -> (y * (1 - x) <= c * (x * (1 - y)) <-> y <= shifted c x).
Proof.
  intros c x y c1 x01. pose proof (shifted_denominator c x c1 ltac:(lra)) as den.
  unfold shifted. split; intros le.
  - apply Rmult_le_reg_r with (1 + (c - 1) * x); [lra|].
    replace (c * x / (1 + (c - 1) * x) * (1 + (c - 1) * x)) with (c * x) by (field; lra). lra.
  - apply Rmult_le_compat_r with (r := 1 + (c - 1) * x) in le; [|lra].
    replace (c * x / (1 + (c - 1) * x) * (1 + (c - 1) * x)) with (c * x) in le by (field; lra). lra.
Qed.

Lemma shifted_unit : forall c x, 1 <= c -> 0 <= x <= 1 -> 0 <= shifted c x <= 1.
Proof.
  intros c x c1 [x0 x1]. pose proof (shifted_denominator c x c1 x0) as den. unfold shifted.
  assert (inv : 0 < / (1 + (c - 1) * x)) by (apply Rinv_0_lt_compat; lra). split.
  - apply Rmult_le_pos; [apply Rmult_le_pos|]; lra.
  - apply Rmult_le_reg_r with (1 + (c - 1) * x); [lra|].
    replace (c * x / (1 + (c - 1) * x) * (1 + (c - 1) * x)) with (c * x) by (field; lra). lra.
Qed.

Lemma shifted_tangent :
  forall c x y, 1 <= c -> 0 <= x -> 0 <= y ->
    shifted c x <= shifted c y + c / ((1 + (c - 1) * y) * (1 + (c - 1) * y)) * (x - y).
Proof.
  intros c x y c1 x0 y0. unfold shifted.
  pose proof (shifted_denominator c x c1 x0) as dx. pose proof (shifted_denominator c y c1 y0) as dy.
  set (a := 1 + (c - 1) * x) in *. set (b := 1 + (c - 1) * y) in *.
  assert (difference : c * y / b + c / (b * b) * (x - y) - c * x / a = c * (c - 1) * ((x - y) * (x - y)) * / a * / b * / b).
  { unfold a, b in *. field. split; lra. }
  assert (0 <= c * (c - 1) * ((x - y) * (x - y)) * / a * / b * / b).
  { assert (0 < / a) by (apply Rinv_0_lt_compat; lra).
    assert (0 < / b) by (apply Rinv_0_lt_compat; lra).
    assert (0 <= (x - y) * (x - y)) by apply Rle_0_sqr.
    assert (0 <= c * (c - 1)) by (apply Rmult_le_pos; lra).
    apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra]. apply Rmult_le_pos; [|lra].
    apply Rmult_le_pos; assumption. }
  lra.
Qed.

Lemma shifted_monotone :
  forall c x y, 1 <= c -> 0 <= x -> x <= y -> shifted c x <= shifted c y.
Proof.
  intros c x y c1 x0 xy. unfold shifted.
  pose proof (shifted_denominator c x c1 x0) as dx. pose proof (shifted_denominator c y c1 ltac:(lra)) as dy.
  assert (difference : c * y / (1 + (c - 1) * y) - c * x / (1 + (c - 1) * x) =
            c * (y - x) * / (1 + (c - 1) * x) * / (1 + (c - 1) * y)) by (field; lra).
  assert (0 <= c * (y - x) * / (1 + (c - 1) * x) * / (1 + (c - 1) * y)).
  { assert (0 < / (1 + (c - 1) * x)) by (apply Rinv_0_lt_compat; lra).
    assert (0 < / (1 + (c - 1) * y)) by (apply Rinv_0_lt_compat; lra).
    repeat apply Rmult_le_pos; lra. }
  lra.
Qed.

Lemma shifted_twice :
  forall c d x, 1 <= c -> 1 <= d -> 0 <= x -> shifted c (shifted d x) = shifted (c * d) x.
Proof.
  intros c d x c1 d1 x0. unfold shifted.
  pose proof (shifted_denominator d x d1 x0) as den.
  assert (1 <= c * d) by (assert (0 <= (c - 1) * d) by (apply Rmult_le_pos; lra); lra).
  pose proof (shifted_denominator (c * d) x ltac:(lra) x0) as den'.
  field. split; [lra|]. replace (1 + (d - 1) * x + (c - 1) * (d * x)) with (1 + (c * d - 1) * x) by ring. lra.
Qed.

Lemma shifted_jensen :
  forall n p c f, law n p -> 1 <= c -> within_unit n f ->
    mean n p (fun i => shifted c (f i)) <= shifted c (mean n p f).
Proof.
  intros n p c f lp c1 unit. pose proof (mean_unit n p f lp unit) as [m0 m1].
  set (m := mean n p f) in *.
  set (slope := c / ((1 + (c - 1) * m) * (1 + (c - 1) * m))).
  apply Rle_trans with (mean n p (fun i => (shifted c m - slope * m) + slope * f i)).
  - apply mean_monotone; [exact lp|]. intros i lt. destruct (unit i lt).
    pose proof (shifted_tangent c (f i) m c1 ltac:(lra) ltac:(lra)) as above. fold slope in above. lra.
  - rewrite mean_affine by exact lp. fold m. lra.
Qed.

Lemma range_value :
  forall k size e p q budget h F,
    adds_up bounded_range k size e p q budget h -> (forall g, 0 <= F g <= 1) ->
    value k size p F h <= shifted (exp budget) (value k size q F h) /\
    value k size q F h <= shifted (exp budget) (value k size p F h).
Proof.
  induction k as [|k IH]; intros size e p q budget h F each unit; cbn [value].
  - cbn in each. pose proof (exp_at_least_one budget each) as c1. destruct (unit h) as [F0 F1].
    assert (le : F h * (1 - F h) <= exp budget * (F h * (1 - F h))).
    { assert (0 <= F h * (1 - F h)) by (apply Rmult_le_pos; lra).
      assert (0 <= (exp budget - 1) * (F h * (1 - F h))) by (apply Rmult_le_pos; lra). lra. }
    split; apply below_shifted; try assumption; split; assumption.
  - pose proof (adds_up_budget bounded_range (S k) size e p q budget h each) as whole.
    cbn [adds_up] in each. destruct each as [lp [lq [e0 [range rest]]]].
    destruct (law_some _ _ lp) as [l [lt_l _]].
    pose proof (adds_up_budget _ _ _ _ _ _ _ _ (rest l lt_l)) as left_.
    pose proof (exp_at_least_one _ e0) as c1. pose proof (exp_at_least_one _ left_) as d1.
    assert (inner : forall i, (i < size h)%nat ->
              0 <= value k size p F (i :: h) <= 1 /\ 0 <= value k size q F (i :: h) <= 1).
    { intros i lt. apply (value_nonneg _ _ _ _ _ _ _ _ F (rest i lt) unit). }
    assert (one : forall r s f g,
              law (size h) r -> law (size h) s -> bounded_range (size h) (e h) r s ->
              within_unit (size h) f -> within_unit (size h) g ->
              (forall i, (i < size h)%nat -> f i <= shifted (exp (budget - e h)) (g i)) ->
              mean (size h) r f <= shifted (exp budget) (mean (size h) s g)).
    { intros r s f g lr ls rng uf ug near.
      replace budget with ((budget - e h) + e h) by ring. rewrite exp_plus.
      pose proof (mean_unit _ _ _ lr ug) as ur. pose proof (mean_unit _ _ _ ls ug) as us.
      rewrite <- shifted_twice by (try assumption; lra).
      apply Rle_trans with (mean (size h) r (fun i => shifted (exp (budget - e h)) (g i))).
      { apply mean_monotone; assumption. }
      apply Rle_trans with (shifted (exp (budget - e h)) (mean (size h) r g)).
      { apply shifted_jensen; assumption. }
      apply shifted_monotone; [assumption|lra|].
      apply below_shifted; [assumption|lra|].
      apply range_odds; assumption. }
    split.
    + apply one; try assumption; try (intros i lt; apply (inner i lt)).
      intros i lt. apply (IH _ _ _ _ _ _ F (rest i lt) unit).
    + apply one; try assumption; try (intros i lt; apply (inner i lt)).
      * apply range_symmetric. exact range.
      * intros i lt. apply (IH _ _ _ _ _ _ F (rest i lt) unit).
Qed.

Theorem summed_range_is_logistic :
  forall k size e p q budget E,
    summed_range k size e p q budget ->
    chance k size p E * (1 - chance k size q E) <= exp budget * (chance k size q E * (1 - chance k size p E)) /\
    chance k size q E * (1 - chance k size p E) <= exp budget * (chance k size p E * (1 - chance k size q E)).
Proof.
  intros k size e p q budget E each. rewrite !chance_value.
  pose proof (exp_at_least_one budget (adds_up_budget _ _ _ _ _ _ _ _ each)) as c1.
  destruct (value_nonneg _ _ _ _ _ _ _ _ _ each (event_unit E)) as [up uq].
  destruct (range_value _ _ _ _ _ _ _ _ each (event_unit E)) as [forth back].
  split; apply below_shifted; assumption.
Qed.

Theorem summed_range_is_private :
  forall k size e p q budget E,
    summed_range k size e p q budget ->
    chance k size p E <= exp budget * chance k size q E /\
    chance k size q E <= exp budget * chance k size p E.
Proof.
  intros k size e p q budget E each.
  destruct (summed_range_is_logistic k size e p q budget E each) as [forth back].
  rewrite !chance_value in *.
  pose proof (exp_at_least_one budget (adds_up_budget _ _ _ _ _ _ _ _ each)) as c1.
  destruct (value_nonneg _ _ _ _ _ _ _ _ _ each (event_unit E)) as [up uq].
  split; apply odds_to_factor; assumption.
Qed.

(* Nothing is lost: all histories together have probability one. *)
Theorem histories_are_all :
  forall promise k size e p q budget,
    adds_up promise k size e p q budget [] -> chance k size p (fun _ => true) = 1.
Proof.
  intros promise k size e p q budget each. rewrite chance_value. revert budget each.
  generalize (@nil nat) as h.
  induction k as [|k IH]; intros h budget each; cbn [value]; [reflexivity|].
  cbn [adds_up] in each. destruct each as [[nonneg one] [_ [_ [_ rest]]]].
  unfold mean. rewrite <- one. apply sum_ext. intros i lt. rewrite (IH _ _ (rest i lt)). ring.
Qed.

(* A bounded range is a sum of one; and so is a mixed one, which is bounded given a public random number. *)
Theorem range_is_summed :
  forall n e p q,
    0 <= e -> law n p -> law n q -> bounded_range n e p q ->
    summed_range 1 (fun _ => n) (fun _ => e) (fun _ => p) (fun _ => q) e.
Proof.
  intros n e p q e0 lp lq range. unfold summed_range. cbn [adds_up].
  split; [exact lp|split; [exact lq|split; [exact e0|split; [exact range|]]]]. intros; lra.
Qed.

Definition mixed {A : Type} (of_public : A) (given : nat -> A) (h : list nat) : A :=
  match h with [] => of_public | i :: _ => given i end.

Theorem mixed_range_is_summed :
  forall m v n e p q,
    0 <= e -> law m v ->
    (forall i, (i < m)%nat -> law (n i) (p i) /\ law (n i) (q i) /\ bounded_range (n i) e (p i) (q i)) ->
    summed_range 2 (mixed m n) (mixed 0 (fun _ => e)) (mixed v p) (mixed v q) e.
Proof.
  intros m v n e p q e0 lv each. unfold summed_range. cbn [adds_up mixed].
  split; [exact lv|split; [exact lv|split; [lra|split; [apply range_reflexive|]]]].
  intros i lt. destruct (each i lt) as [lp [lq range]].
  split; [exact lp|split; [exact lq|split; [exact e0|split; [exact range|]]]]. intros; lra.
Qed.
