(* Zero-concentrated privacy of a bounded range: the Rényi divergence of every order a > 1 is at most a * kappa e, and
   kappa is the least such number; at most e^2 / 8. It adds up over answers, and a sum of ranges has that of the sum. *)

From Coq Require Import Reals Lra Lia List.
From Discreet Require Import Sums Range Rounds Kappa.
Import ListNotations.
Open Scope R_scope.

(* x to the power a, for x >= 0; 0 to any power is 0 here. *)
Definition power (x a : R) : R := if Rlt_dec 0 x then exp (a * ln x) else 0.

(* The sum of p^a q^(1 - a). *)
Definition moment (n : nat) (a : R) (p q : nat -> R) : R :=
  sum n (fun i => power (p i) a * power (q i) (1 - a)).

Definition renyi (n : nat) (a : R) (p q : nat -> R) : R := ln (moment n a p q) / (a - 1).

(* rho-zCDP for one pair of neighbours, both ways round: no answer of one is impossible for the other, and the
   divergences of all orders above 1 are at most that many times rho. *)
Definition concentrated (n : nat) (rho : R) (p q : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> (0 < p i <-> 0 < q i)) /\
  forall a, 1 < a -> renyi n a p q <= a * rho /\ renyi n a q p <= a * rho.

(* ---- Weighted means and logarithms ---- *)

Lemma weighted_logarithms :
  forall a x y, 1 < a -> 0 < x -> 0 < y -> ln x + (a - 1) * ln y <= a * ln ((x + (a - 1) * y) / a).
Proof.
  intros a x y a1 x0 y0. set (m := (x + (a - 1) * y) / a).
  assert (y1 : 0 < (a - 1) * y) by (apply Rmult_lt_0_compat; lra).
  assert (m0 : 0 < m) by (apply Rdiv_lt_0_compat; lra).
  assert (am : a * m = x + (a - 1) * y) by (unfold m; field; lra).
  pose proof (ln_below (x / m) ltac:(apply Rdiv_lt_0_compat; assumption)) as lx.
  pose proof (ln_below (y / m) ltac:(apply Rdiv_lt_0_compat; assumption)) as ly.
  rewrite ln_ratio in lx, ly by assumption.
  assert (sum_ : x / m + (a - 1) * (y / m) = a).
  { replace (x / m + (a - 1) * (y / m)) with ((x + (a - 1) * y) / m) by (field; lra). rewrite <- am. field. lra. }
  assert ((a - 1) * (ln y - ln m) <= (a - 1) * (y / m - 1)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma ln_twice : forall x y, 0 < y -> ln (2 * exp x * y) = ln 2 + x + ln y.
Proof.
  intros x y y0. pose proof (exp_pos x) as e0.
  rewrite !ln_mult, ln_exp; lra.
Qed.

(* exp (a x) is above its tangent as a function of exp x. *)
Lemma tangent : forall a d, 1 < a -> 1 + a * (exp d - 1) <= exp (a * d).
Proof.
  intros a d a1. pose proof (exp_pos (a * d)) as e0.
  destruct (Rle_lt_dec (1 + a * (exp d - 1)) 0) as [low|pos]; [lra|].
  pose proof (weighted_logarithms a (1 + a * (exp d - 1)) 1 a1 pos ltac:(lra)) as logs.
  replace ((1 + a * (exp d - 1) + (a - 1) * 1) / a) with (exp d) in logs by (field; lra).
  rewrite ln_1, ln_exp in logs. rewrite <- (exp_ln (1 + a * (exp d - 1))) by exact pos.
  apply exp_monotone. lra.
Qed.

Lemma chord :
  forall a x lo hi, 1 < a -> lo <= x <= hi ->
    exp (a * x) * (exp hi - exp lo) <= exp (a * hi) * (exp x - exp lo) + exp (a * lo) * (exp hi - exp x).
Proof.
  intros a x lo hi a1 [low high].
  assert (above : forall y, exp (a * x) * (1 + a * (exp (y - x) - 1)) <= exp (a * y)).
  { intros y. pose proof (tangent a (y - x) a1) as t. pose proof (exp_pos (a * x)) as e0.
    replace (a * y) with (a * x + a * (y - x)) by ring. rewrite exp_plus.
    apply Rmult_le_compat_l; lra. }
  pose proof (exp_monotone lo x low) as l. pose proof (exp_monotone x hi high) as h.
  pose proof (Rmult_le_compat_r (exp x - exp lo) _ _ ltac:(lra) (above hi)) as up.
  pose proof (Rmult_le_compat_r (exp hi - exp x) _ _ ltac:(lra) (above lo)) as down.
  assert (shift : forall y, exp (y - x) * exp x = exp y).
  { intros y. rewrite <- exp_plus. f_equal. ring. }
  assert (balance : exp (a * x) * (1 + a * (exp (hi - x) - 1)) * (exp x - exp lo) +
                    exp (a * x) * (1 + a * (exp (lo - x) - 1)) * (exp hi - exp x) =
                    exp (a * x) * (exp hi - exp lo)).
  { rewrite <- (shift hi), <- (shift lo). ring. }
  lra.
Qed.

(* ---- The worst of all laws of a bounded range ---- *)

(* The Rényi divergence of order a that is the largest of a bounded range e, as the code computes it. *)
Definition missing (x : R) : R := 1 - exp (- x).

Definition range_curve (e a : R) : R :=
  let t := e + ln ((a - 1) * missing (a * e) / (a * missing ((a - 1) * e))) in
  (a * t - e + ln (missing ((a - 1) * e) / ((a - 1) * missing e))) / (a - 1).

Lemma missing_positive : forall x, 0 < x -> 0 < missing x.
Proof.
  intros x x0. unfold missing. assert (exp (- x) < exp 0) by (apply exp_increasing; lra).
  rewrite exp_0 in *. lra.
Qed.

Lemma curve_expanded :
  forall e a, 0 < e -> 1 < a ->
    (a - 1) * range_curve e a =
    (a - 1) * e + a * (ln (missing (a * e)) - ln a) - (a - 1) * (ln (missing ((a - 1) * e)) - ln (a - 1)) - ln (missing e).
Proof.
  intros e a e0 a1.
  pose proof (missing_positive (a * e) ltac:(apply Rmult_lt_0_compat; lra)) as whole.
  pose proof (missing_positive ((a - 1) * e) ltac:(apply Rmult_lt_0_compat; lra)) as part.
  pose proof (missing_positive e e0) as one. unfold range_curve.
  set (W := missing (a * e)) in *. set (V := missing ((a - 1) * e)) in *. set (O := missing e) in *. clearbody W V O.
  assert (pW : 0 < (a - 1) * W) by (apply Rmult_lt_0_compat; lra).
  assert (pV : 0 < a * V) by (apply Rmult_lt_0_compat; lra).
  assert (pO : 0 < (a - 1) * O) by (apply Rmult_lt_0_compat; lra).
  rewrite !ln_ratio, !ln_mult by lra. field. lra.
Qed.

(* Ratios exp (l i) within e^(t - e) and e^t, of mean one: their moments are largest for some t, and then that. *)
Lemma worst_moment :
  forall n q l t e a,
    law n q -> sum n (fun i => q i * exp (l i)) = 1 ->
    (forall i, (i < n)%nat -> 0 < q i -> t - e <= l i <= t) -> 0 < e -> 1 < a ->
    sum n (fun i => q i * exp (a * l i)) <= exp ((a - 1) * range_curve e a).
Proof.
  intros n q l t e a [nonneg one] mean_one within e0 a1.
  set (hi := exp t). set (lo := exp (t - e)).
  assert (gap_ : 0 < hi - lo) by (assert (lo < hi) by (apply exp_increasing; lra); lra).
  (* by the chord, and as the ratios have mean one *)
  assert (chords : sum n (fun i => q i * exp (a * l i)) * (hi - lo) <=
                   exp (a * t) * (1 - lo) + exp (a * (t - e)) * (hi - 1)).
  { rewrite <- sum_scal_r.
    apply Rle_trans with (sum n (fun i => exp (a * t) * (q i * exp (l i) - q i * lo) +
                                          exp (a * (t - e)) * (q i * hi - q i * exp (l i)))).
    - apply sum_le. intros i lt. pose proof (nonneg i lt) as q0.
      destruct (Rle_lt_or_eq_dec 0 (q i) q0) as [some|none]; [|rewrite <- none; lra].
      pose proof (chord a (l i) (t - e) t a1 (within i lt some)) as c. fold hi lo in c.
      pose proof (Rmult_le_compat_l (q i) _ _ q0 c). lra.
    - rewrite sum_plus, !sum_scal, !sum_minus, !sum_scal_r, one, mean_one. lra. }
  (* in terms of y, which is positive *)
  set (A := exp (- e) - exp (- (a * e))). set (B := 1 - exp (- (a * e))).
  assert (ae : e < a * e) by (assert (0 < (a - 1) * e) by (apply Rmult_lt_0_compat; lra); lra).
  assert (A0 : 0 < A) by (assert (exp (- (a * e)) < exp (- e)) by (apply exp_increasing; lra); unfold A; lra).
  assert (one_e : 0 < 1 - exp (- e)).
  { assert (exp (- e) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. lra. }
  assert (B0 : 0 < B).
  { assert (exp (- (a * e)) < exp 0) by (apply exp_increasing; lra). rewrite exp_0 in *. unfold B. lra. }
  set (x := exp (- t)). assert (x0 : 0 < x) by apply exp_pos.
  assert (xt : x * hi = 1) by (unfold x, hi; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  set (y := x * B - A).
  assert (lo_hi : lo = hi * exp (- e)) by (unfold lo, hi; rewrite <- exp_plus; f_equal; ring).
  assert (hi1 : 1 <= hi /\ lo <= 1).
  { split.
    - rewrite <- mean_one. rewrite <- (Rmult_1_l hi), <- one, <- sum_scal_r. apply sum_le. intros i lt.
      destruct (Rle_lt_or_eq_dec 0 (q i) (nonneg i lt)) as [some|none]; [|rewrite <- none; lra].
      apply Rmult_le_compat_l; [lra|]. apply exp_monotone. apply within; assumption.
    - rewrite <- mean_one. rewrite <- (Rmult_1_l lo), <- one, <- sum_scal_r. apply sum_le. intros i lt.
      destruct (Rle_lt_or_eq_dec 0 (q i) (nonneg i lt)) as [some|none]; [|rewrite <- none; lra].
      apply Rmult_le_compat_l; [lra|]. apply exp_monotone. apply within; assumption. }
  assert (xe : exp (- e) <= x).
  { apply Rmult_le_reg_r with hi; [unfold hi; apply exp_pos|]. rewrite xt. lra. }
  assert (yB : y = (x - exp (- e)) * B + exp (- (a * e)) * (1 - exp (- e))) by (unfold y, A, B; ring).
  assert (y0 : 0 < y).
  { rewrite yB. assert (0 <= (x - exp (- e)) * B) by (apply Rmult_le_pos; lra).
    assert (0 < exp (- (a * e)) * (1 - exp (- e))) by (apply Rmult_lt_0_compat; [apply exp_pos|exact one_e]). lra. }
  assert (bound : sum n (fun i => q i * exp (a * l i)) * (1 - exp (- e)) <= exp (a * t) * y).
  { apply Rmult_le_reg_r with hi; [unfold hi; apply exp_pos|].
    replace (sum n (fun i => q i * exp (a * l i)) * (1 - exp (- e)) * hi)
      with (sum n (fun i => q i * exp (a * l i)) * (hi - lo)) by (rewrite lo_hi; ring).
    apply Rle_trans with (1 := chords).
    replace (exp (a * (t - e))) with (exp (a * t) * exp (- (a * e))) by (rewrite <- exp_plus; f_equal; ring).
    replace (exp (a * t) * y * hi) with (exp (a * t) * (x * hi * B - A * hi)) by (unfold y; ring).
    rewrite xt, lo_hi. unfold A, B. right. ring. }
  (* the largest over t *)
  pose proof (missing_positive ((a - 1) * e) ltac:(apply Rmult_lt_0_compat; lra)) as part0.
  assert (lnA : ln A = - e + ln (missing ((a - 1) * e))).
  { replace A with (exp (- e) * missing ((a - 1) * e)).
    - rewrite ln_mult, ln_exp; [reflexivity|apply exp_pos|exact part0].
    - unfold A, missing. rewrite Rmult_minus_distr_l, <- exp_plus. f_equal; [ring|f_equal; ring]. }
  pose proof (weighted_logarithms a (a * y) (a * A / (a - 1)) a1
    ltac:(apply Rmult_lt_0_compat; lra)
    ltac:(apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra])) as logs.
  replace ((a * y + (a - 1) * (a * A / (a - 1))) / a) with (x * B) in logs by (unfold y; field; lra).
  rewrite (ln_ratio (a * A)) in logs by (try apply Rmult_lt_0_compat; lra).
  rewrite !ln_mult in logs by lra. unfold x in logs. rewrite ln_exp, lnA in logs.
  assert (exponent : a * t + ln y - ln (1 - exp (- e)) <= (a - 1) * range_curve e a).
  { rewrite curve_expanded by assumption. fold (missing e). change (missing (a * e)) with B. lra. }
  apply Rmult_le_reg_r with (1 - exp (- e)); [exact one_e|].
  apply Rle_trans with (1 := bound).
  rewrite <- (exp_ln y) by exact y0. rewrite <- (exp_ln (1 - exp (- e))) at 1 by exact one_e.
  rewrite <- !exp_plus. apply exp_monotone. lra.
Qed.

Theorem curve_below_kappa : forall e a, 0 < e -> 1 < a -> range_curve e a <= a * kappa e.
Proof.
  intros e a e0 a1. set (u := e / 2). set (v := (a - 1) * u).
  assert (u0 : 0 < u) by (unfold u; lra).
  assert (v0 : 0 < v) by (apply Rmult_lt_0_compat; lra).
  pose proof (sinh_positive u u0) as su. pose proof (sinh_positive v v0) as sv.
  pose proof (sinh_positive (u + v) ltac:(lra)) as suv.
  assert (halves : forall z, missing (2 * z) = 2 * exp (- z) * sinh z).
  { intros z. unfold missing, sinh. replace (- (2 * z)) with (- z + - z) by ring. rewrite exp_plus.
    assert (exp z * exp (- z) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). lra. }
  assert (whole : ln (missing (a * e)) = ln 2 + - (u + v) + ln (sinh (u + v))).
  { replace (a * e) with (2 * (u + v)) by (unfold v, u; field). rewrite halves. apply ln_twice. exact suv. }
  assert (part : ln (missing ((a - 1) * e)) = ln 2 + - v + ln (sinh v)).
  { replace ((a - 1) * e) with (2 * v) by (unfold v, u; field). rewrite halves. apply ln_twice. exact sv. }
  assert (one : ln (missing e) = ln 2 + - u + ln (sinh u)).
  { replace e with (2 * u) by (unfold u; field). rewrite halves. apply ln_twice. exact su. }
  assert (lna : ln a = ln (u + v) - ln u).
  { rewrite <- ln_ratio by lra. f_equal. unfold v. field. lra. }
  assert (lna1 : ln (a - 1) = ln v - ln u).
  { rewrite <- ln_ratio by lra. f_equal. unfold v. field. lra. }
  pose proof (k0_of_a_sum u v u0 v0) as key. unfold k0 in key.
  rewrite !ln_ratio in key by lra.
  assert (au : a * u = u + v) by (unfold v; ring).
  apply Rmult_le_reg_l with ((a - 1) * u); [exact v0|].
  replace ((a - 1) * u * range_curve e a) with (u * ((a - 1) * range_curve e a)) by ring.
  rewrite curve_expanded, whole, part, one, lna, lna1 by assumption.
  rewrite kappa_is_k1 by exact e0. fold u.
  apply Rle_trans with ((u + v) * (ln (sinh (u + v)) - ln (u + v)) - u * (ln (sinh u) - ln u) - v * (ln (sinh v) - ln v)).
  - right. replace a with ((u + v) / u) by (unfold v; field; lra). unfold u at 2. replace e with (2 * u) by (unfold u; field).
    field. lra.
  - apply Rle_trans with (1 := key). right.
    replace (v * (u + v) / u) with ((a - 1) * (u + v)) by (unfold v; field; lra). rewrite <- au. ring.
Qed.

(* ---- From products to logarithms of ratios ---- *)

Lemma range_support :
  forall n e p q i, law n p -> law n q -> bounded_range n e p q -> (i < n)%nat -> 0 < p i -> 0 < q i.
Proof.
  intros n e p q i lp lq range lt pi. destruct (law_some n q lq) as [j [lt_j qj]].
  destruct (Rle_lt_or_eq_dec 0 (q i) (proj1 lq i lt)) as [some|none]; [exact some|].
  pose proof (range i j lt lt_j) as step. rewrite <- none, !Rmult_0_r in step.
  assert (0 < p i * q j) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.

Definition loss (p q : nat -> R) (i : nat) : R := ln (p i) - ln (q i).

Lemma moment_of_losses :
  forall n a p q, law n p -> law n q -> (forall i, (i < n)%nat -> (0 < p i <-> 0 < q i)) ->
    moment n a p q = sum n (fun i => q i * exp (a * loss p q i)).
Proof.
  intros n a p q lp lq same. apply sum_ext. intros i lt. unfold power, loss.
  destruct (Rlt_dec 0 (q i)) as [qi|none].
  - destruct (Rlt_dec 0 (p i)) as [pi|none]; [|exfalso; apply none, same; assumption].
    rewrite <- exp_plus. rewrite <- (exp_ln (q i)) at 2 by exact qi. rewrite <- exp_plus. f_equal. ring.
  - assert (q i = 0) by (pose proof (proj1 lq i lt); lra). rewrite H. ring.
Qed.

Lemma greatest :
  forall n (f l : nat -> R), (exists i, (i < n)%nat /\ 0 < f i) ->
    exists m, (m < n)%nat /\ 0 < f m /\ forall i, (i < n)%nat -> 0 < f i -> l i <= l m.
Proof.
  induction n as [|n IH]; intros f l [i [lt some]]; [lia|].
  destruct (Rlt_le_dec 0 (f n)) as [last|not].
  - destruct (Rlt_le_dec 0 (sum n (fun j => if Rlt_dec 0 (f j) then 1 else 0))) as [more|none].
    + assert (exists j, (j < n)%nat /\ 0 < f j) as earlier.
      { clear -more. induction n as [|n IH]; cbn [sum] in more; [lra|].
        destruct (Rlt_dec 0 (f n)) as [here|not]; [exists n; split; [lia|exact here]|].
        destruct IH as [j [lt some]]; [lra|]. exists j. split; [lia|exact some]. }
      destruct (IH f l earlier) as [m [lt_m [pos best_]]].
      destruct (Rle_lt_dec (l n) (l m)).
      * exists m. split; [lia|split; [exact pos|]]. intros j lt_j fj.
        destruct (Nat.eq_dec j n); [subst; assumption|apply best_; [lia|exact fj]].
      * exists n. split; [lia|split; [exact last|]]. intros j lt_j fj.
        destruct (Nat.eq_dec j n); [subst; lra|]. pose proof (best_ j ltac:(lia) fj). lra.
    + exists n. split; [lia|split; [exact last|]]. intros j lt_j fj.
      destruct (Nat.eq_dec j n); [subst; lra|]. exfalso.
      assert (1 <= sum n (fun j => if Rlt_dec 0 (f j) then 1 else 0)).
      { apply Rle_trans with ((fun j => if Rlt_dec 0 (f j) then 1 else 0) j); [destruct (Rlt_dec 0 (f j)); lra|].
        apply (sum_term n (fun j => if Rlt_dec 0 (f j) then 1 else 0)); [lia|]. intros k _. destruct (Rlt_dec 0 (f k)); lra. }
      lra.
  - assert (exists j, (j < n)%nat /\ 0 < f j) as earlier.
    { exists i. destruct (Nat.eq_dec i n); [subst; lra|]. split; [lia|exact some]. }
    destruct (IH f l earlier) as [m [lt_m [pos best_]]].
    exists m. split; [lia|split; [exact pos|]]. intros j lt_j fj.
    destruct (Nat.eq_dec j n); [subst; lra|apply best_; [lia|exact fj]].
Qed.

Lemma losses_mean_one :
  forall n p q, law n p -> law n q -> (forall i, (i < n)%nat -> (0 < p i <-> 0 < q i)) ->
    sum n (fun i => q i * exp (loss p q i)) = 1.
Proof.
  intros n p q lp lq same. rewrite <- (proj2 lp). apply sum_ext. intros i lt. unfold loss.
  destruct (Rle_lt_or_eq_dec 0 (q i) (proj1 lq i lt)) as [qi|none].
  - assert (pi : 0 < p i) by (apply same; assumption).
    replace (ln (p i) - ln (q i)) with (ln (p i) + - ln (q i)) by ring.
    rewrite exp_plus, exp_Ropp, !exp_ln by assumption. field. lra.
  - rewrite <- none. destruct (Rle_lt_or_eq_dec 0 (p i) (proj1 lp i lt)) as [pi|zero]; [|rewrite <- zero; ring].
    apply same in pi; [lra|exact lt].
Qed.

Lemma range_losses :
  forall n e p q, law n p -> law n q -> bounded_range n e p q -> forall i, (i < n)%nat -> (0 < p i <-> 0 < q i).
Proof.
  intros n e p q lp lq range i lt.
  split; apply range_support with (n := n) (e := e); try assumption. apply range_symmetric. exact range.
Qed.

Lemma range_moment_by_curve :
  forall n e p q a, law n p -> law n q -> 0 < e -> bounded_range n e p q -> 1 < a ->
    moment n a p q <= exp ((a - 1) * range_curve e a).
Proof.
  intros n e p q a lp lq e0 range a1. pose proof (range_losses n e p q lp lq range) as same.
  rewrite moment_of_losses by assumption.
  destruct (greatest n q (loss p q) (law_some n q lq)) as [m [lt_m [qm most]]].
  apply worst_moment with (t := loss p q m); try assumption; [apply losses_mean_one; assumption|].
  intros i lt qi. split; [|apply most; assumption].
  pose proof (range m i lt_m lt) as step.
  assert (pi : 0 < p i) by (apply same; assumption). assert (pm : 0 < p m) by (apply same; assumption).
  assert (logs : ln (p m * q i) <= ln (exp e * (p i * q m))).
  { destruct (Rle_lt_or_eq_dec _ _ step) as [less|equal]; [|rewrite equal; lra].
    left. apply ln_increasing; [apply Rmult_lt_0_compat; assumption|exact less]. }
  rewrite !ln_mult, ln_exp in logs by (try apply exp_pos; try assumption; apply Rmult_lt_0_compat; assumption).
  unfold loss. lra.
Qed.

Lemma range_moment :
  forall n e p q a, law n p -> law n q -> 0 <= e -> bounded_range n e p q -> 1 < a ->
    moment n a p q <= exp (a * (a - 1) * kappa e).
Proof.
  intros n e p q a lp lq e0 range a1.
  destruct (Rle_lt_or_eq_dec 0 e e0) as [more|zero].
  - apply Rle_trans with (1 := range_moment_by_curve n e p q a lp lq more range a1).
    apply exp_monotone. replace (a * (a - 1) * kappa e) with ((a - 1) * (a * kappa e)) by ring.
    apply Rmult_le_compat_l; [lra|]. apply curve_below_kappa; assumption.
  - subst. replace (kappa 0) with 0 by (unfold kappa; destruct (Rlt_dec 0 0); lra). rewrite Rmult_0_r, exp_0.
    assert (equal : forall i, (i < n)%nat -> p i = q i).
    { assert (one : forall r s i, law n r -> law n s -> bounded_range n 0 r s -> (i < n)%nat -> r i <= s i).
      { intros r s i [_ lr] [_ ls] rng lt.
        rewrite <- (Rmult_1_r (r i)), <- (Rmult_1_l (s i)), <- ls at 1. rewrite <- lr, <- sum_scal, <- sum_scal_r.
        apply sum_le. intros j lt_j. pose proof (rng i j lt lt_j) as step. rewrite exp_0 in step. lra. }
      intros i lt. apply Rle_antisym; apply one; try assumption. apply range_symmetric. exact range. }
    rewrite moment_of_losses by (try assumption; apply range_losses with (e := 0); assumption).
    right. rewrite <- (proj2 lq). apply sum_ext. intros i lt.
    unfold loss. rewrite (equal i lt). replace (a * (ln (q i) - ln (q i))) with 0 by ring. rewrite exp_0. ring.
Qed.

Lemma moment_positive :
  forall n a p q, law n p -> (forall i, (i < n)%nat -> (0 < p i <-> 0 < q i)) -> 0 < moment n a p q.
Proof.
  intros n a p q lp same. destruct (law_some n p lp) as [i [lt pi]].
  assert (nonneg : forall x b, 0 <= power x b).
  { intros x b. unfold power. destruct (Rlt_dec 0 x); [left; apply exp_pos|lra]. }
  apply Rlt_le_trans with (power (p i) a * power (q i) (1 - a)).
  - unfold power. destruct (Rlt_dec 0 (p i)); [|contradiction].
    destruct (Rlt_dec 0 (q i)) as [qi|none]; [|exfalso; apply none, same; assumption].
    apply Rmult_lt_0_compat; apply exp_pos.
  - apply (sum_term n (fun i => power (p i) a * power (q i) (1 - a))); [exact lt|].
    intros j _. apply Rmult_le_pos; apply nonneg.
Qed.

Lemma renyi_by_moment :
  forall n a p q r, 1 < a -> 0 < moment n a p q ->
    (renyi n a p q <= a * r <-> moment n a p q <= exp (a * (a - 1) * r)).
Proof.
  intros n a p q r a1 pos. unfold renyi. split; intros le.
  - rewrite <- (exp_ln (moment n a p q)) by exact pos. apply exp_monotone.
    apply Rmult_le_compat_r with (r := a - 1) in le; [|lra].
    replace (ln (moment n a p q) / (a - 1) * (a - 1)) with (ln (moment n a p q)) in le by (field; lra). lra.
  - apply Rmult_le_reg_r with (a - 1); [lra|].
    replace (ln (moment n a p q) / (a - 1) * (a - 1)) with (ln (moment n a p q)) by (field; lra).
    rewrite <- (ln_exp (a * r * (a - 1))). replace (a * r * (a - 1)) with (a * (a - 1) * r) by ring.
    destruct (Rle_lt_or_eq_dec _ _ le) as [less|equal]; [left; apply ln_increasing; assumption|rewrite equal; lra].
Qed.

Theorem range_renyi :
  forall n e p q a, 0 < e -> law n p -> law n q -> bounded_range n e p q -> 1 < a ->
    renyi n a p q <= range_curve e a /\ renyi n a q p <= range_curve e a.
Proof.
  assert (one : forall n e p q a, 0 < e -> law n p -> law n q -> bounded_range n e p q -> 1 < a ->
            renyi n a p q <= range_curve e a).
  { intros n e p q a e0 lp lq range a1.
    replace (range_curve e a) with (a * (range_curve e a / a)) by (field; lra).
    apply renyi_by_moment; [exact a1|apply moment_positive; [exact lp|apply range_losses with (e := e); assumption]|].
    replace (a * (a - 1) * (range_curve e a / a)) with ((a - 1) * range_curve e a) by (field; lra).
    apply range_moment_by_curve; assumption. }
  intros n e p q a e0 lp lq range a1. split; apply one; try assumption. apply range_symmetric. exact range.
Qed.

Theorem range_is_concentrated :
  forall n e p q, 0 <= e -> law n p -> law n q -> bounded_range n e p q -> concentrated n (kappa e) p q.
Proof.
  intros n e p q e0 lp lq range.
  assert (range' : bounded_range n e q p) by (apply range_symmetric; exact range).
  split; [apply range_losses with (e := e); assumption|].
  intros a a1. split; apply renyi_by_moment; try exact a1; try apply range_moment; try assumption;
    apply moment_positive; try assumption; apply range_losses with (e := e); assumption.
Qed.

Lemma concentrated_weaker :
  forall n r s p q, r <= s -> concentrated n r p q -> concentrated n s p q.
Proof.
  intros n r s p q le [same all]. split; [exact same|]. intros a a1. destruct (all a a1).
  assert (a * r <= a * s) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem range_is_concentrated_by_hoeffding :
  forall n e p q, 0 <= e -> law n p -> law n q -> bounded_range n e p q -> concentrated n (e * e / 8) p q.
Proof.
  intros n e p q e0 lp lq range. apply concentrated_weaker with (kappa e).
  - apply kappa_below_hoeffding. exact e0.
  - apply range_is_concentrated; assumption.
Qed.

(* ---- No smaller rho ---- *)

(* The Kullback-Leibler divergence is below the Rényi divergence of every order above 1. *)
Lemma divergence_below :
  forall n a p q, 1 < a -> law n p -> law n q -> (forall i, (i < n)%nat -> (0 < p i <-> 0 < q i)) ->
    exp ((a - 1) * sum n (fun i => p i * loss p q i)) <= moment n a p q.
Proof.
  intros n a p q a1 lp lq same. rewrite moment_of_losses by assumption.
  set (m := (a - 1) * sum n (fun i => p i * loss p q i)).
  assert (terms : sum n (fun i => p i * (exp m * (1 + ((a - 1) * loss p q i - m)))) = exp m).
  { rewrite (sum_ext n _ (fun i => exp m * (1 - m) * p i + exp m * (a - 1) * (p i * loss p q i))) by (intros; ring).
    rewrite sum_plus, !sum_scal, (proj2 lp). unfold m. ring. }
  rewrite <- terms. apply sum_le. intros i lt.
  destruct (Rle_lt_or_eq_dec 0 (q i) (proj1 lq i lt)) as [qi|none].
  - assert (pi : 0 < p i) by (apply same; assumption).
    replace (q i * exp (a * loss p q i)) with (p i * exp ((a - 1) * loss p q i)).
    + apply Rmult_le_compat_l; [lra|].
      replace ((a - 1) * loss p q i) with (m + ((a - 1) * loss p q i - m)) at 2 by ring. rewrite exp_plus.
      apply Rmult_le_compat_l; [left; apply exp_pos|].
      destruct (Req_dec ((a - 1) * loss p q i - m) 0) as [zero|other]; [rewrite zero, exp_0; lra|].
      left. apply exp_ineq1. exact other.
    + replace (a * loss p q i) with (loss p q i + (a - 1) * loss p q i) by ring. rewrite exp_plus.
      replace (p i) with (q i * exp (loss p q i)) at 1; [ring|].
      unfold loss. replace (ln (p i) - ln (q i)) with (ln (p i) + - ln (q i)) by ring.
      rewrite exp_plus, exp_Ropp, !exp_ln by assumption. field. lra.
  - assert (zero : p i = 0).
    { destruct (Rle_lt_or_eq_dec 0 (p i) (proj1 lp i lt)) as [pi|equal]; [|symmetry; exact equal].
      apply same in pi; [lra|exact lt]. }
    rewrite zero, <- none. lra.
Qed.

Definition two_point (x : R) (i : nat) : R := match i with O => x | _ => 1 - x end.

Theorem kappa_is_least :
  forall e r, 0 < e -> r < kappa e ->
    exists p q, law 2 p /\ law 2 q /\ bounded_range 2 e p q /\ ~ concentrated 2 r p q.
Proof.
  intros e r e0 less.
  pose proof (exp_ineq1 e ltac:(lra)) as big.
  set (k := e / (exp e - 1)).
  assert (k0 : 0 < k) by (apply Rdiv_lt_0_compat; lra).
  assert (ke : k * (exp e - 1) = e) by (unfold k; field; lra).
  assert (def : kappa e = k - 1 - ln k).
  { unfold kappa. destruct (Rlt_dec 0 e) as [_|not]; [reflexivity|contradiction]. }
  clearbody k.
  assert (k1 : k < 1) by (apply Rmult_lt_reg_r with (exp e - 1); lra).
  pose proof (exp_pos e) as x0.
  (* the losses are - ln k and - ln k - e *)
  set (b := (/ k - 1) / (exp e - 1)).
  assert (inverse : / k * k = 1) by (apply Rinv_l; lra).
  assert (k_inv : 1 < / k) by (apply Rmult_lt_reg_r with k; lra).
  assert (b0 : 0 < b) by (apply Rdiv_lt_0_compat; lra).
  assert (low : 1 < k * exp e).
  { (* 1 - exp (- e) < e *)
    pose proof (exp_ineq1 (- e) ltac:(lra)) as small. rewrite exp_Ropp in small.
    apply Rmult_lt_reg_r with ((exp e - 1) * / exp e).
    - apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; exact x0].
    - replace (k * exp e * ((exp e - 1) * / exp e)) with (k * (exp e - 1)) by (field; lra). rewrite ke.
      replace (1 * ((exp e - 1) * / exp e)) with (1 - / exp e) by (field; lra). lra. }
  assert (be : b * (exp e - 1) = / k - 1) by (unfold b; field; lra).
  clearbody b.
  assert (b1 : b < 1).
  { apply Rmult_lt_reg_r with (exp e - 1); [lra|]. rewrite be.
    assert (/ k < exp e) by (apply Rmult_lt_reg_r with k; lra). lra. }
  set (p := two_point (1 - b)). set (q := two_point ((1 - b) * k)).
  assert (q1 : 1 - (1 - b) * k = b * (k * exp e)).
  { assert (b * (exp e - 1) * k = (/ k - 1) * k) by (rewrite be; reflexivity). lra. }
  assert (qa : 0 < (1 - b) * k) by (apply Rmult_lt_0_compat; lra).
  assert (qb : 0 < b * (k * exp e)) by (apply Rmult_lt_0_compat; lra).
  assert (lp : law 2 p) by (split; [intros [|i] _; cbn; lra|cbn; lra]).
  assert (lq : law 2 q) by (split; [intros [|i] _; cbn; lra|cbn; lra]).
  assert (range : bounded_range 2 e p q).
  { intros [|[|i]] [|[|j]] lt_i lt_j; try lia; cbn [p q two_point].
    - assert (0 <= (exp e - 1) * ((1 - b) * ((1 - b) * k))).
      { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
      lra.
    - rewrite q1. replace (1 - (1 - b)) with b by ring. right. ring.
    - rewrite q1. replace (1 - (1 - b)) with b by ring.
      assert (square : 1 <= exp e * exp e) by nra.
      assert (factor : 0 <= b * ((1 - b) * k)) by (apply Rmult_le_pos; lra).
      pose proof (Rmult_le_compat_l _ _ _ factor square). lra.
    - replace (1 - (1 - b)) with b by ring. rewrite q1.
      assert (0 <= (exp e - 1) * (b * (b * (k * exp e)))).
      { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
      lra. }
  exists p, q. split; [exact lp|split; [exact lq|split; [exact range|]]].
  intros [same all].
  assert (kl : sum 2 (fun i => p i * loss p q i) = kappa e).
  { unfold loss. cbn [sum p q two_point]. rewrite q1. replace (1 - (1 - b)) with b by ring.
    rewrite !ln_mult, ln_exp by (try apply Rmult_lt_0_compat; lra).
    rewrite def.
    assert (b * e = k * (b * (exp e - 1))).
    { transitivity (b * (k * (exp e - 1))); [rewrite ke; reflexivity|ring]. }
    rewrite be in H. lra. }
  (* at an order close enough to 1 *)
  set (a := if Rlt_dec 0 r then (1 + kappa e / r) / 2 else 2).
  assert (close : 1 < a /\ a * r < kappa e).
  { unfold a. destruct (Rlt_dec 0 r) as [r0|none].
    - assert (1 < kappa e / r) by (apply Rmult_lt_reg_r with r; [exact r0|];
        unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
      split; [lra|]. replace ((1 + kappa e / r) / 2 * r) with ((r + kappa e) / 2) by (field; lra). lra.
    - split; [lra|]. lra. }
  destruct close as [a1 close]. destruct (all a a1) as [bound _].
  apply renyi_by_moment in bound; [|exact a1|apply moment_positive; assumption].
  pose proof (divergence_below 2 a p q a1 lp lq same) as above. rewrite kl in above.
  assert (exp (a * (a - 1) * r) < exp ((a - 1) * kappa e)); [|lra].
  apply exp_increasing.
  assert ((a - 1) * (a * r) < (a - 1) * kappa e) by (apply Rmult_lt_compat_l; lra). lra.
Qed.

(* ---- Answers one after the other ---- *)

(* The sum of P^a Q^(1 - a) over all histories. *)
Definition moment_of_histories (k : nat) (size : list nat -> nat) (a : R) (p q : list nat -> nat -> R) : R :=
  total k size (fun h => power (path p h) a * power (path q h) (1 - a)) [].

Definition renyi_of_histories (k : nat) (size : list nat -> nat) (a : R) (p q : list nat -> nat -> R) : R :=
  ln (moment_of_histories k size a p q) / (a - 1).

Fixpoint later (k : nat) (size : list nat -> nat) (a : R) (p q : list nat -> nat -> R) (h : list nat) : R :=
  match k with
  | O => 1
  | S k' => sum (size h) (fun i => power (p h i) a * power (q h i) (1 - a) * later k' size a p q (i :: h))
  end.

Lemma power_product : forall x y a, 0 <= x -> 0 <= y -> power (x * y) a = power x a * power y a.
Proof.
  intros x y a x0 y0. unfold power.
  destruct (Rlt_dec 0 x) as [px|zx]; destruct (Rlt_dec 0 y) as [py|zy].
  - destruct (Rlt_dec 0 (x * y)) as [_|not]; [|exfalso; apply not, Rmult_lt_0_compat; assumption].
    rewrite ln_mult by assumption. rewrite <- exp_plus. f_equal. ring.
  - assert (y = 0) by lra. subst. rewrite Rmult_0_r. destruct (Rlt_dec 0 0); lra.
  - assert (x = 0) by lra. subst. rewrite Rmult_0_l. destruct (Rlt_dec 0 0); lra.
  - assert (x = 0) by lra. subst. rewrite Rmult_0_l. destruct (Rlt_dec 0 0); lra.
Qed.

Lemma power_nonneg : forall x a, 0 <= power x a.
Proof. intros x a. unfold power. destruct (Rlt_dec 0 x); [left; apply exp_pos|lra]. Qed.

Lemma later_total :
  forall promise k size e p q budget h a,
    adds_up promise k size e p q budget h -> 0 <= path p h -> 0 <= path q h ->
    total k size (fun g => power (path p g) a * power (path q g) (1 - a)) h =
    power (path p h) a * power (path q h) (1 - a) * later k size a p q h.
Proof.
  induction k as [|k IH]; intros size e p q budget h a each ph qh; cbn [total later]; [ring|].
  cbn [adds_up] in each. destruct each as [lp [lq [_ [_ rest]]]].
  rewrite <- sum_scal. apply sum_ext. intros i lt.
  assert (p0 : 0 <= p h i) by (apply lp; exact lt). assert (q0 : 0 <= q h i) by (apply lq; exact lt).
  rewrite (IH _ _ _ _ _ _ a (rest i lt)) by (cbn [path]; apply Rmult_le_pos; assumption).
  cbn [path]. rewrite !power_product by assumption. ring.
Qed.

Lemma later_bound :
  forall k size e p q budget h a,
    adds_up concentrated k size e p q budget h -> 1 < a ->
    0 <= later k size a p q h <= exp (a * (a - 1) * budget).
Proof.
  induction k as [|k IH]; intros size e p q budget h a each a1; cbn [later].
  - cbn in each. split; [lra|]. apply exp_at_least_one.
    apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact each].
  - cbn [adds_up] in each. destruct each as [lp [lq [e0 [[same all] rest]]]]. split.
    + apply sum_nonneg. intros i lt. apply Rmult_le_pos; [apply Rmult_le_pos; apply power_nonneg|].
      apply (IH _ _ _ _ _ _ a (rest i lt) a1).
    + apply Rle_trans with (moment (size h) a (p h) (q h) * exp (a * (a - 1) * (budget - e h))).
      * unfold moment. rewrite <- sum_scal_r. apply sum_le. intros i lt.
        apply Rmult_le_compat_l; [apply Rmult_le_pos; apply power_nonneg|].
        apply (IH _ _ _ _ _ _ a (rest i lt) a1).
      * destruct (all a a1) as [bound _].
        apply renyi_by_moment in bound; [|exact a1|apply moment_positive; assumption].
        replace (a * (a - 1) * budget) with (a * (a - 1) * e h + a * (a - 1) * (budget - e h)) by ring.
        rewrite exp_plus. apply Rmult_le_compat_r; [left; apply exp_pos|exact bound].
Qed.

Lemma later_positive :
  forall k size e p q budget h a,
    adds_up concentrated k size e p q budget h -> 0 < later k size a p q h.
Proof.
  induction k as [|k IH]; intros size e p q budget h a each; cbn [later]; [lra|].
  cbn [adds_up] in each. destruct each as [lp [lq [_ [[same _] rest]]]].
  destruct (law_some _ _ lp) as [i [lt pi]].
  apply Rlt_le_trans with (power (p h i) a * power (q h i) (1 - a) * later k size a p q (i :: h)).
  - apply Rmult_lt_0_compat; [|apply (IH _ _ _ _ _ _ a (rest i lt))].
    unfold power. destruct (Rlt_dec 0 (p h i)); [|contradiction].
    destruct (Rlt_dec 0 (q h i)) as [_|not]; [|exfalso; apply not, same; assumption].
    apply Rmult_lt_0_compat; apply exp_pos.
  - apply (sum_term (size h) (fun i => power (p h i) a * power (q h i) (1 - a) * later k size a p q (i :: h))); [exact lt|].
    intros j lt_j. apply Rmult_le_pos; [apply Rmult_le_pos; apply power_nonneg|].
    left. apply (IH _ _ _ _ _ _ a (rest j lt_j)).
Qed.

Theorem concentrated_composes :
  forall k size rho p q budget a,
    adds_up concentrated k size rho p q budget [] -> 1 < a ->
    renyi_of_histories k size a p q <= a * budget.
Proof.
  intros k size rho p q budget a each a1. unfold renyi_of_histories, moment_of_histories.
  rewrite (later_total concentrated k size rho p q budget [] a each) by (cbn; lra). cbn [path].
  assert (one : forall b, power 1 b = 1).
  { intros b. unfold power. destruct (Rlt_dec 0 1) as [_|not]; [|lra]. rewrite ln_1, Rmult_0_r. apply exp_0. }
  rewrite !one, !Rmult_1_l.
  pose proof (later_positive k size rho p q budget [] a each) as pos.
  destruct (later_bound k size rho p q budget [] a each a1) as [_ bound].
  apply Rmult_le_reg_r with (a - 1); [lra|].
  replace (ln (later k size a p q []) / (a - 1) * (a - 1)) with (ln (later k size a p q [])) by (field; lra).
  rewrite <- (ln_exp (a * budget * (a - 1))). replace (a * budget * (a - 1)) with (a * (a - 1) * budget) by ring.
  destruct (Rle_lt_or_eq_dec _ _ bound) as [less|equal]; [left; apply ln_increasing; assumption|rewrite equal; lra].
Qed.

Lemma ranges_to_concentrated :
  forall k size e p q budget h,
    adds_up bounded_range k size e p q budget h ->
    adds_up concentrated k size (fun h => kappa (e h)) p q (kappa budget) h.
Proof.
  induction k as [|k IH]; intros size e p q budget h each; cbn [adds_up].
  - apply kappa_nonneg.
  - pose proof (adds_up_budget _ _ _ _ _ _ _ _ each) as whole.
    cbn [adds_up] in each. destruct each as [lp [lq [e0 [range rest]]]].
    split; [exact lp|split; [exact lq|split; [apply kappa_nonneg|split]]].
    + apply range_is_concentrated; assumption.
    + intros i lt. pose proof (adds_up_budget _ _ _ _ _ _ _ _ (rest i lt)) as left_.
      pose proof (IH _ _ _ _ _ _ (rest i lt)) as inner.
      assert (more : kappa (budget - e h) <= kappa budget - kappa (e h)).
      { pose proof (kappa_superadditive (e h) (budget - e h) e0 left_) as sum_.
        replace (e h + (budget - e h)) with budget in sum_ by ring. lra. }
      revert inner more. generalize (kappa (budget - e h)) as low. generalize (kappa budget - kappa (e h)) as high.
      generalize (i :: h) as g. clear. induction k as [|k IH]; intros g high low inner more; cbn [adds_up] in *; [lra|].
      destruct inner as [lp [lq [e0 [con rest]]]].
      split; [exact lp|split; [exact lq|split; [exact e0|split; [exact con|]]]].
      intros j lt. apply IH with (low - kappa (e g)); [apply rest; exact lt|lra].
Qed.

Theorem summed_range_is_concentrated :
  forall k size e p q budget a,
    summed_range k size e p q budget -> 1 < a -> renyi_of_histories k size a p q <= a * kappa budget.
Proof.
  intros k size e p q budget a each a1. apply concentrated_composes with (rho := fun h => kappa (e h)); [|exact a1].
  apply ranges_to_concentrated. exact each.
Qed.
