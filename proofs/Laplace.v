(* As Laplace noise (`LaplaceDP`): no easier to tell apart than a number with Laplace noise of scale 1 that moves by e.
   It follows from log-odds that differ by at most e, and implies e-DP. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums Range Rounds.
Open Scope R_scope.

(* The distribution function of Laplace noise of scale 1, its quantiles, and the probability e further on. *)
Definition laplace (x : R) : R := if Rlt_dec x 0 then exp x / 2 else 1 - exp (- x) / 2.

Definition quantile (p : R) : R := if Rle_dec p (1 / 2) then ln (2 * p) else - ln (2 * (1 - p)).

Definition laplace_shifted (e p : R) : R := laplace (quantile p + e).

(* What a neighbour's probability y may be, given x: nothing impossible becomes possible, and the quantile moves by e. *)
Definition below_laplace (e x y : R) : Prop :=
  (x = 0 -> y = 0) /\ (0 < x < 1 -> y <= laplace_shifted e x).

Definition as_laplace (n : nat) (e : R) (p q : nat -> R) : Prop :=
  forall E, below_laplace e (prob n q E) (prob n p E) /\ below_laplace e (prob n p E) (prob n q E).

Lemma laplace_of_quantile : forall p, 0 < p < 1 -> laplace (quantile p) = p.
Proof.
  intros p [p0 p1]. unfold laplace, quantile. destruct (Rle_dec p (1 / 2)) as [low|high].
  - destruct (Rlt_dec (ln (2 * p)) 0) as [neg|not]; [rewrite exp_ln by lra; field|].
    assert (ln (2 * p) <= 0) by (rewrite <- ln_1; destruct (Req_dec p (1 / 2)) as [half|other];
      [subst; right; f_equal; field|left; apply ln_increasing; lra]).
    assert (zero : ln (2 * p) = 0) by lra. rewrite zero, Ropp_0, exp_0.
    assert (2 * p = 1) by (rewrite <- (exp_ln (2 * p)), zero by lra; apply exp_0). lra.
  - assert (ln (2 * (1 - p)) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    destruct (Rlt_dec (- ln (2 * (1 - p))) 0) as [neg|not]; [lra|].
    rewrite Ropp_involutive, exp_ln by lra. field.
Qed.

Lemma prob_nonneg : forall n p E, law n p -> 0 <= prob n p E.
Proof. intros n p E lp. rewrite prob_mean. apply mean_unit; [exact lp|apply indicator_unit]. Qed.

Lemma prob_at_most_one : forall n p E, law n p -> prob n p E <= 1.
Proof. intros n p E lp. rewrite prob_mean. apply mean_unit; [exact lp|apply indicator_unit]. Qed.

(* With c = exp e it is c x up to 1/2, then 1 - 1 / (4 c x), and beyond x = 1/2 it is 1 - (1 - x) / c. *)
Lemma shifted_cases :
  forall e x, 0 <= e -> 0 < x < 1 ->
    (x <= 1 / 2 -> exp e * x < 1 / 2 -> laplace_shifted e x = exp e * x) /\
    (x <= 1 / 2 -> 1 / 2 <= exp e * x -> laplace_shifted e x = 1 - / (4 * (exp e * x))) /\
    (1 / 2 < x -> laplace_shifted e x = 1 - (1 - x) * / exp e).
Proof.
  intros e x e0 [x0 x1]. pose proof (exp_pos e) as c0.
  assert (cx : 0 < exp e * x) by (apply Rmult_lt_0_compat; assumption).
  assert (place : ln (2 * x) + e = ln (2 * (exp e * x))).
  { replace (2 * (exp e * x)) with (exp e * (2 * x)) by ring.
    rewrite (ln_mult (exp e) (2 * x)), ln_exp by lra. ring. }
  unfold laplace_shifted, quantile, laplace. split; [|split].
  - intros low early. destruct (Rle_dec x (1 / 2)) as [_|not]; [|contradiction]. rewrite place.
    assert (ln (2 * (exp e * x)) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    destruct (Rlt_dec (ln (2 * (exp e * x))) 0) as [_|not]; [|contradiction]. rewrite exp_ln by lra. field.
  - intros low late. destruct (Rle_dec x (1 / 2)) as [_|not]; [|contradiction]. rewrite place.
    assert (0 <= ln (2 * (exp e * x))).
    { rewrite <- ln_1. destruct (Req_dec (2 * (exp e * x)) 1) as [one|other]; [rewrite one; lra|].
      left. apply ln_increasing; lra. }
    destruct (Rlt_dec (ln (2 * (exp e * x))) 0) as [neg|_]; [lra|].
    rewrite exp_Ropp, exp_ln by lra. field. lra.
  - intros high. destruct (Rle_dec x (1 / 2)) as [low|_]; [lra|].
    assert (ln (2 * (1 - x)) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    destruct (Rlt_dec (- ln (2 * (1 - x)) + e) 0) as [neg|_]; [lra|].
    replace (- (- ln (2 * (1 - x)) + e)) with (ln (2 * (1 - x)) + - e) by ring.
    rewrite exp_plus, exp_ln, exp_Ropp by lra. field. lra.
Qed.

Lemma laplace_below_factor : forall e x, 0 <= e -> 0 < x < 1 -> laplace_shifted e x <= exp e * x.
Proof.
  intros e x e0 x01. destruct (shifted_cases e x e0 x01) as [early [late high]].
  pose proof (exp_at_least_one e e0) as c1. set (c := exp e) in *.
  destruct (Rle_lt_dec x (1 / 2)) as [low|up].
  - destruct (Rlt_le_dec (c * x) (1 / 2)) as [less|more]; [rewrite early by assumption; lra|].
    rewrite late by assumption. set (z := c * x) in *.
    assert (same : z - (1 - / (4 * z)) = (2 * z - 1) * (2 * z - 1) / (4 * z)) by (field; lra).
    assert (0 <= (2 * z - 1) * (2 * z - 1) / (4 * z)).
    { apply Rmult_le_pos; [apply Rle_0_sqr|left; apply Rinv_0_lt_compat; lra]. }
    lra.
  - rewrite high by exact up.
    assert (inverse : / c <= 1) by (apply Rmult_le_reg_l with c; [lra|]; rewrite Rinv_r; lra).
    assert (same : c * x - (1 - (1 - x) * / c) = (c - 1) * (x - (1 - x) * / c)) by (field; lra).
    assert (0 <= (c - 1) * (x - (1 - x) * / c)).
    { apply Rmult_le_pos; [lra|]. assert ((1 - x) * / c <= (1 - x) * 1) by (apply Rmult_le_compat_l; lra). lra. }
    lra.
Qed.

Lemma odds_below_laplace : forall e x, 0 <= e -> 0 < x < 1 -> shifted (exp e) x <= laplace_shifted e x.
Proof.
  intros e x e0 x01. destruct (shifted_cases e x e0 x01) as [early [late high]].
  pose proof (exp_at_least_one e e0) as c1. set (c := exp e) in *.
  pose proof (shifted_denominator c x c1 ltac:(lra)) as den.
  unfold shifted. set (d := 1 + (c - 1) * x) in *.
  assert (inv_d : 0 < / d) by (apply Rinv_0_lt_compat; lra).
  assert (cx0 : 0 < c * x) by (apply Rmult_lt_0_compat; lra).
  destruct (Rle_lt_dec x (1 / 2)) as [low|up].
  - destruct (Rlt_le_dec (c * x) (1 / 2)) as [less|more].
    + rewrite early by assumption. apply Rmult_le_reg_r with d; [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      assert (c * x * 1 <= c * x * d) by (apply Rmult_le_compat_l; lra). lra.
    + rewrite late by assumption. apply Rmult_le_reg_r with (d * (4 * (c * x))); [apply Rmult_lt_0_compat; lra|].
      replace (c * x / d * (d * (4 * (c * x)))) with (4 * (c * x) * (c * x)) by (field; lra).
      replace ((1 - / (4 * (c * x))) * (d * (4 * (c * x)))) with (d * (4 * (c * x)) - d)
        by (unfold d; field; lra).
      assert (part : 0 <= (c * x - 1 / 2) * (3 - 4 * x)) by (apply Rmult_le_pos; lra).
      assert (goal_ : d * (4 * (c * x)) - d - 4 * (c * x) * (c * x) = (c * x - 1 / 2) * (3 - 4 * x) + (1 / 2 - x))
        by (unfold d; field).
      lra.
  - rewrite high by exact up. apply Rmult_le_reg_r with (d * c); [apply Rmult_lt_0_compat; lra|].
    replace (c * x / d * (d * c)) with (c * x * c) by (field; lra).
    replace ((1 - (1 - x) * / c) * (d * c)) with (d * c - (1 - x) * d) by (field; lra).
    assert (part : 0 <= (c - 1) * ((1 - x) * (1 - x))).
    { apply Rmult_le_pos; [lra|apply Rle_0_sqr]. }
    assert (goal_ : d * c - (1 - x) * d - c * x * c = (c - 1) * ((1 - x) * (1 - x))) by (unfold d; ring).
    lra.
Qed.

Theorem logistic_is_laplace :
  forall n e p q, 0 <= e -> law n p -> law n q -> logistic n e p q -> as_laplace n e p q.
Proof.
  assert (one : forall n e p q E, 0 <= e -> law n p -> law n q -> logistic n e p q ->
            below_laplace e (prob n q E) (prob n p E)).
  { intros n e p q E e0 lp lq odds. pose proof (exp_at_least_one e e0) as c1.
    destruct (odds E) as [forth _]. pose proof (prob_nonneg n p E lp). pose proof (prob_nonneg n q E lq).
    pose proof (prob_at_most_one n p E lp). pose proof (prob_at_most_one n q E lq). split.
    - intros zero. rewrite zero in forth. lra.
    - intros between_. apply Rle_trans with (shifted (exp e) (prob n q E)).
      + apply below_shifted; [exact c1|lra|exact forth].
      + apply odds_below_laplace; assumption. }
  intros n e p q e0 lp lq odds E. split; apply one; try assumption.
  intros F. destruct (odds F). split; assumption.
Qed.

Theorem laplace_is_private :
  forall n e p q, 0 <= e -> law n p -> law n q -> as_laplace n e p q -> private n e p q.
Proof.
  assert (one : forall e x y, 0 <= e -> 0 <= x <= 1 -> y <= 1 -> below_laplace e x y -> y <= exp e * x).
  { intros e x y e0 x01 y1 [none some]. pose proof (exp_at_least_one e e0) as c1.
    destruct (Req_dec x 0) as [zero|pos]; [rewrite (none zero), zero; lra|].
    destruct (Req_dec x 1) as [whole|less]; [subst; lra|].
    apply Rle_trans with (1 := some ltac:(lra)). apply laplace_below_factor; lra. }
  intros n e p q e0 lp lq all E. destruct (all E) as [forth back].
  pose proof (prob_nonneg n p E lp). pose proof (prob_nonneg n q E lq).
  pose proof (prob_at_most_one n p E lp). pose proof (prob_at_most_one n q E lq).
  split; apply one; try assumption; split; assumption.
Qed.
