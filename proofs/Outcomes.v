(* What is made of answers: a function of all histories promises no less. So `SummedRange` holds for whatever can be
   drawn as answers one after the other. And the curve of a bounded range is attained. *)

From Coq Require Import Reals Lra Lia List.
From Discreet Require Import Sums Range Rounds Kappa Rho.
Import ListNotations.
Open Scope R_scope.

(* The law of out (h), h the history of k answers. *)
Definition outcome (k : nat) (size : list nat -> nat) (p : list nat -> nat -> R) (out : list nat -> nat) (j : nat) : R :=
  chance k size p (fun h => Nat.eqb (out h) j).

(* ---- Sums over histories ---- *)

Lemma total_scal : forall k size c F h, total k size (fun g => c * F g) h = c * total k size F h.
Proof.
  induction k as [|k IH]; intros size c F h; cbn [total]; [reflexivity|].
  rewrite <- sum_scal. apply sum_ext. intros i lt. apply IH.
Qed.

Lemma total_plus :
  forall k size F G h, total k size (fun g => F g + G g) h = total k size F h + total k size G h.
Proof.
  induction k as [|k IH]; intros size F G h; cbn [total]; [reflexivity|].
  rewrite <- sum_plus. apply sum_ext. intros i lt. apply IH.
Qed.

Lemma total_sum :
  forall k size m (F : list nat -> nat -> R) h,
    total k size (fun g => sum m (F g)) h = sum m (fun j => total k size (fun g => F g j) h).
Proof.
  induction k as [|k IH]; intros size m F h; cbn [total]; [reflexivity|].
  rewrite (sum_ext _ _ (fun i => sum m (fun j => total k size (fun g => F g j) (i :: h)))) by (intros; apply IH).
  apply sum_swap.
Qed.

(* A bound that holds at all histories with laws that promise something. *)
Lemma total_le :
  forall (promise : nat -> R -> (nat -> R) -> (nat -> R) -> Prop) (good : R -> R -> Prop) k size e p q budget h (F G : R -> R -> list nat -> R),
    (forall n d r s i, law n r -> law n s -> promise n d r s -> (i < n)%nat ->
       forall x y, good x y -> good (x * r i) (y * s i)) ->
    (forall x y g, good x y -> F x y g <= G x y g) ->
    adds_up promise k size e p q budget h -> good (path p h) (path q h) ->
    total k size (fun g => F (path p g) (path q g) g) h <= total k size (fun g => G (path p g) (path q g) g) h.
Proof.
  induction k as [|k IH]; intros size e p q budget h F G step le each start; cbn [total]; [apply le; exact start|].
  cbn [adds_up] in each. destruct each as [lp [lq [_ [promised rest]]]].
  apply sum_le. intros i lt. apply (IH size e p q (budget - e h) (i :: h) F G); try assumption.
  - apply rest. exact lt.
  - cbn [path]. apply step with (n := size h) (d := e h); assumption.
Qed.

(* Probabilities of histories are none of them negative, and zero together. *)
Definition together (x y : R) : Prop := 0 <= x /\ 0 <= y /\ (0 < x <-> 0 < y).

Lemma together_step :
  forall n d r s i, law n r -> law n s -> bounded_range n d r s -> (i < n)%nat ->
    forall x y, together x y -> together (x * r i) (y * s i).
Proof.
  intros n d r s i lr ls range lt x y [x0 [y0 same]].
  pose proof (proj1 lr i lt) as r0. pose proof (proj1 ls i lt) as s0.
  pose proof (range_losses n d r s lr ls range i lt) as support.
  split; [apply Rmult_le_pos; assumption|split; [apply Rmult_le_pos; assumption|]].
  assert (factors : forall u v, 0 <= u -> 0 <= v -> 0 < u * v -> 0 < u /\ 0 < v).
  { intros u v u0 v0 both. destruct (Rle_lt_or_eq_dec 0 u u0) as [pu|zero]; [|rewrite <- zero in both; lra].
    destruct (Rle_lt_or_eq_dec 0 v v0) as [pv|zero]; [|rewrite <- zero in both; lra]. split; assumption. }
  split; intros both; apply factors in both; try assumption; destruct both as [one two];
    apply Rmult_lt_0_compat; try (apply same; assumption); apply support; assumption.
Qed.

(* ---- Below a tangent ---- *)

Lemma power_tangent :
  forall a b x y, 1 < a -> together x y ->
    (1 - a) * exp (a * b) * y + a * exp ((a - 1) * b) * x <= power x a * power y (1 - a).
Proof.
  intros a b x y a1 [x0 [y0 same]]. unfold power.
  destruct (Rlt_dec 0 x) as [px|zx].
  - assert (py : 0 < y) by (apply same; exact px).
    destruct (Rlt_dec 0 y) as [_|not]; [|contradiction].
    set (l := ln x - ln y).
    assert (xy : x = y * exp l).
    { unfold l. replace (ln x - ln y) with (ln x + - ln y) by ring. rewrite exp_plus, exp_Ropp, !exp_ln by assumption.
      field. lra. }
    assert (whole : exp (a * ln x) * exp ((1 - a) * ln y) = y * exp (a * l)).
    { rewrite <- exp_plus. rewrite <- (exp_ln y) at 2 by exact py. rewrite <- exp_plus. f_equal. unfold l. ring. }
    rewrite whole, xy. pose proof (tangent a (l - b) a1) as above.
    assert (eb : 0 <= y * exp (a * b)) by (apply Rmult_le_pos; [lra|left; apply exp_pos]).
    pose proof (Rmult_le_compat_l _ _ _ eb above) as scaled.
    assert (e1 : exp (a * b) * exp (a * (l - b)) = exp (a * l)) by (rewrite <- exp_plus; f_equal; ring).
    assert (e2 : exp (a * b) * exp (l - b) = exp ((a - 1) * b) * exp l) by (rewrite <- !exp_plus; f_equal; ring).
    replace (y * exp (a * b) * exp (a * (l - b))) with (y * (exp (a * b) * exp (a * (l - b)))) in scaled by ring.
    rewrite e1 in scaled. apply Rle_trans with (2 := scaled). right.
    transitivity (y * exp (a * b) * (1 - a) + a * y * (exp ((a - 1) * b) * exp l)); [ring|]. rewrite <- e2. ring.
  - assert (x = 0) by lra. assert (zy : ~ 0 < y) by (intros py; apply zx, same; exact py).
    assert (y = 0) by lra. subst. lra.
Qed.

Lemma event_moment :
  forall k size e p q budget a E,
    summed_range k size e p q budget -> 1 < a ->
    power (chance k size p E) a * power (chance k size q E) (1 - a) <=
    total k size (fun h => if E h then power (path p h) a * power (path q h) (1 - a) else 0) [].
Proof.
  intros k size e p q budget a E each a1.
  assert (start : together (path p []) (path q [])) by (cbn; unfold together; lra).
  set (P := chance k size p E). set (Q := chance k size q E).
  assert (nonneg : 0 <= total k size (fun h => if E h then power (path p h) a * power (path q h) (1 - a) else 0) []).
  { replace 0 with (0 * total k size (fun _ => 0) []) at 1 by ring. rewrite <- total_scal.
    apply (total_le bounded_range together k size e p q budget [] (fun _ _ _ => 0 * 0)
             (fun x y g => if E g then power x a * power y (1 - a) else 0)); try assumption; [exact together_step|].
    intros x y g _. rewrite Rmult_0_l. destruct (E g); [apply Rmult_le_pos; apply power_nonneg|lra]. }
  unfold power at 1 2. destruct (Rlt_dec 0 P) as [p0|_]; [|lra]. destruct (Rlt_dec 0 Q) as [q0|_]; [|lra].
  set (b := ln P - ln Q).
  apply Rle_trans with (total k size (fun h =>
      if E h then (1 - a) * exp (a * b) * path q h + a * exp ((a - 1) * b) * path p h else 0) []).
  - right.
    transitivity ((1 - a) * exp (a * b) * Q + a * exp ((a - 1) * b) * P).
    + assert (eq1 : exp (a * b) * Q = exp (a * ln P) * exp ((1 - a) * ln Q)).
      { rewrite <- (exp_ln Q) at 1 by exact q0. rewrite <- !exp_plus. f_equal. unfold b. ring. }
      assert (eq2 : exp ((a - 1) * b) * P = exp (a * ln P) * exp ((1 - a) * ln Q)).
      { rewrite <- (exp_ln P) at 1 by exact p0. rewrite <- !exp_plus. f_equal. unfold b. ring. }
      rewrite !Rmult_assoc, eq1, eq2. ring.
    + unfold P, Q, chance. rewrite <- !total_scal, <- total_plus. apply total_ext. intros g. destruct (E g); ring.
  - apply (total_le bounded_range together k size e p q budget []
      (fun x y g => if E g then (1 - a) * exp (a * b) * y + a * exp ((a - 1) * b) * x else 0)
      (fun x y g => if E g then power x a * power y (1 - a) else 0)); try assumption; [exact together_step|].
    intros x y g both. destruct (E g); [apply power_tangent; assumption|lra].
Qed.

Lemma outcome_moment :
  forall k size e p q budget out m a,
    summed_range k size e p q budget -> (forall h, (out h < m)%nat) -> 1 < a ->
    moment m a (outcome k size p out) (outcome k size q out) <= moment_of_histories k size a p q.
Proof.
  intros k size e p q budget out m a each below_ a1. unfold moment, moment_of_histories.
  rewrite (total_ext k size (fun h => power (path p h) a * power (path q h) (1 - a))
             (fun h => sum m (fun j => if Nat.eqb (out h) j then power (path p h) a * power (path q h) (1 - a) else 0))).
  - rewrite total_sum. apply sum_le. intros j lt.
    apply event_moment with (e := e) (budget := budget); assumption.
  - intros h. rewrite <- (sum_only m (out h) (power (path p h) a * power (path q h) (1 - a)) (below_ h)) at 1.
    apply sum_ext. intros j _. rewrite Nat.eqb_sym. reflexivity.
Qed.

Lemma outcome_law :
  forall promise k size e p q budget out m,
    adds_up promise k size e p q budget [] -> (forall h, (out h < m)%nat) -> law m (outcome k size p out).
Proof.
  intros promise k size e p q budget out m each below_. split.
  - intros j lt. unfold outcome. rewrite chance_value.
    apply (value_nonneg _ _ _ _ _ _ _ _ _ each (event_unit _)).
  - unfold outcome, chance. rewrite <- (total_sum k size m (fun h j => if Nat.eqb (out h) j then path p h else 0)).
    rewrite <- (histories_are_all promise k size e p q budget each). unfold chance.
    apply total_ext. intros h.
    transitivity (sum m (fun j => if Nat.eqb j (out h) then path p h else 0)); [|apply sum_only; apply below_].
    apply sum_ext. intros j _. rewrite Nat.eqb_sym. reflexivity.
Qed.

Lemma summed_range_symmetric :
  forall k size e p q budget, summed_range k size e p q budget -> summed_range k size e q p budget.
Proof.
  unfold summed_range. intros k size e p q. generalize (@nil nat) as h.
  induction k as [|k IH]; intros h budget each; cbn [adds_up] in *; [exact each|].
  destruct each as [lp [lq [e0 [range rest]]]].
  split; [exact lq|split; [exact lp|split; [exact e0|split; [apply range_symmetric; exact range|]]]].
  intros i lt. apply IH. apply rest. exact lt.
Qed.

Theorem outcome_of_summed_range :
  forall k size e p q budget out m,
    summed_range k size e p q budget -> (forall h, (out h < m)%nat) ->
    concentrated m (kappa budget) (outcome k size p out) (outcome k size q out).
Proof.
  intros k size e p q budget out m each below_.
  assert (each' := summed_range_symmetric k size e p q budget each).
  assert (lp := outcome_law _ k size e p q budget out m each below_).
  assert (lq := outcome_law _ k size e q p budget out m each' below_).
  assert (same : forall j, (j < m)%nat -> (0 < outcome k size p out j <-> 0 < outcome k size q out j)).
  { intros j lt. unfold outcome.
    destruct (summed_range_is_private k size e p q budget (fun h => Nat.eqb (out h) j) each) as [up down].
    pose proof (proj1 lp j lt) as p0. pose proof (proj1 lq j lt) as q0. unfold outcome in p0, q0.
    pose proof (exp_pos budget) as c0.
    split; intros pos.
    - destruct (Rle_lt_or_eq_dec _ _ q0) as [some|zero]; [exact some|]. rewrite <- zero, Rmult_0_r in up. lra.
    - destruct (Rle_lt_or_eq_dec _ _ p0) as [some|zero]; [exact some|]. rewrite <- zero, Rmult_0_r in down. lra. }
  assert (one : forall r s a, summed_range k size e r s budget ->
            law m (outcome k size r out) ->
            (forall j, (j < m)%nat -> (0 < outcome k size r out j <-> 0 < outcome k size s out j)) -> 1 < a ->
            renyi m a (outcome k size r out) (outcome k size s out) <= a * kappa budget).
  { intros r s a whole lr support a1.
    apply Rle_trans with (renyi_of_histories k size a r s).
    - unfold renyi, renyi_of_histories. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
      pose proof (outcome_moment k size e r s budget out m a whole below_ a1) as le.
      destruct (Rle_lt_or_eq_dec _ _ le) as [less|equal]; [|rewrite equal; lra].
      left. apply ln_increasing; [apply moment_positive; assumption|exact less].
    - apply summed_range_is_concentrated with (e := e); assumption. }
  split; [exact same|]. intros a a1. split; apply one; try assumption.
  intros j lt. symmetry. apply same. exact lt.
Qed.

(* ---- The curve of a bounded range is attained ---- *)

Lemma power_of_ratio : forall y l a, 0 <= y -> power (y * exp l) a * power y (1 - a) = y * exp (a * l).
Proof.
  intros y l a y0. pose proof (exp_pos l) as l0. destruct (Rle_lt_or_eq_dec 0 y y0) as [py|zero].
  - unfold power. destruct (Rlt_dec 0 y) as [_|not]; [|contradiction].
    destruct (Rlt_dec 0 (y * exp l)) as [_|not]; [|exfalso; apply not, Rmult_lt_0_compat; assumption].
    rewrite ln_mult, ln_exp, <- exp_plus by assumption. rewrite <- (exp_ln y) at 3 by exact py.
    rewrite <- exp_plus. f_equal. ring.
  - rewrite <- zero, Rmult_0_l. unfold power. destruct (Rlt_dec 0 0); lra.
Qed.

Theorem curve_is_attained :
  forall e a, 0 < e -> 1 < a ->
    exists p q, law 2 p /\ law 2 q /\ bounded_range 2 e p q /\ renyi 2 a p q = range_curve e a.
Proof.
  intros e a e0 a1.
  pose proof (missing_positive (a * e) ltac:(apply Rmult_lt_0_compat; lra)) as W0.
  pose proof (missing_positive ((a - 1) * e) ltac:(apply Rmult_lt_0_compat; lra)) as V0.
  pose proof (missing_positive e e0) as O0.
  set (W := missing (a * e)) in *. set (V := missing ((a - 1) * e)) in *. set (O := missing e) in *.
  set (z := exp (- e)) in *. assert (z0 : 0 < z) by apply exp_pos.
  assert (defO : O = 1 - z) by reflexivity.
  set (t := e + ln ((a - 1) * W / (a * V))).
  assert (aV : 0 < a * V) by (apply Rmult_lt_0_compat; lra).
  assert (aW : 0 < (a - 1) * W) by (apply Rmult_lt_0_compat; lra).
  set (x := exp (- t)). assert (x0 : 0 < x) by apply exp_pos.
  assert (xval : x * ((a - 1) * W) = a * V * z).
  { unfold x, t. replace (- (e + ln ((a - 1) * W / (a * V)))) with (- e + - ln ((a - 1) * W / (a * V))) by ring.
    rewrite exp_plus, exp_Ropp with (x := ln ((a - 1) * W / (a * V))), exp_ln by (apply Rdiv_lt_0_compat; assumption).
    fold z. field. split; lra. }
  assert (zW : exp (- (a * e)) = z * exp (- ((a - 1) * e))) by (unfold z; rewrite <- exp_plus; f_equal; ring).
  assert (defW : W = 1 - z * exp (- ((a - 1) * e))) by (unfold W, missing; rewrite zW; reflexivity).
  assert (defV : V = 1 - exp (- ((a - 1) * e))) by reflexivity.
  set (s := exp (- ((a - 1) * e))) in *. assert (s0 : 0 < s) by apply exp_pos.
  (* z <= x <= 1, by the tangent at e and at - e *)
  assert (zx : z <= x).
  { apply Rmult_le_reg_r with ((a - 1) * W); [exact aW|]. rewrite xval.
    pose proof (tangent a e a1) as above.
    assert (ze : z * exp e = 1) by (unfold z; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
    assert (zs : z * s * exp (a * e) = 1).
    { unfold z, s. rewrite <- !exp_plus. replace (- e + - ((a - 1) * e) + a * e) with 0 by ring. apply exp_0. }
    assert (zs0 : 0 <= z * s) by (apply Rmult_le_pos; lra).
    pose proof (Rmult_le_compat_l _ _ _ zs0 above) as scaled. rewrite zs in scaled.
    assert (expand : z * s * (1 + a * (exp e - 1)) = z * s * (1 - a) + a * s) by (transitivity (z * s * (1 - a) + a * s * (z * exp e)); [ring|rewrite ze; ring]).
    rewrite expand in scaled.
    assert (core : (a - 1) * W <= a * V) by (rewrite defW, defV; lra).
    pose proof (Rmult_le_compat_l z _ _ ltac:(lra) core). lra. }
  assert (x1 : x <= 1).
  { apply Rmult_le_reg_r with ((a - 1) * W); [exact aW|]. rewrite xval, Rmult_1_l.
    pose proof (tangent a (- e) a1) as above. fold z in above.
    replace (a * - e) with (- (a * e)) in above by ring. rewrite zW in above. fold s in above.
    rewrite defW, defV. lra. }
  set (h := (x - z) / O).
  assert (h0 : 0 <= h) by (apply quotient_nonneg; lra).
  assert (hO : h * O = x - z) by (unfold h; field; lra).
  assert (h1 : h <= 1) by (apply Rmult_le_reg_r with O; lra).
  assert (xt : x * exp t = 1) by (unfold x; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  assert (shift : exp (t - e) = exp t * z) by (unfold z; rewrite <- exp_plus; f_equal; ring).
  set (q := two_point h).
  set (p := fun i : nat => match i with 0%nat => h * exp t | _ => (1 - h) * exp (t - e) end).
  assert (et : 0 < exp t) by apply exp_pos. assert (ete : 0 < exp (t - e)) by apply exp_pos.
  assert (lq : law 2 q) by (split; [intros [|i] _; cbn; lra|cbn; lra]).
  assert (lp : law 2 p).
  { split; [intros [|i] _; cbn; apply Rmult_le_pos; lra|]. cbn. rewrite shift.
    apply Rmult_eq_reg_r with O; [|lra].
    transitivity (exp t * (h * O * (1 - z) + z * O)); [ring|]. rewrite hO, defO.
    transitivity ((x * exp t) * (1 - z)); [ring|]. rewrite xt. ring. }
  assert (ee : 0 < exp e) by apply exp_pos.
  assert (ez : exp e * z = 1) by (unfold z; rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  assert (e1 : 1 <= exp e) by (apply exp_at_least_one; lra).
  assert (hh : 0 <= h * (1 - h)) by (apply Rmult_le_pos; lra).
  exists p, q. split; [exact lp|split; [exact lq|split]].
  - intros [|[|i]] [|[|j]] lt_i lt_j; try lia; cbn.
    + assert (0 <= (exp e - 1) * (h * exp t * h)).
      { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
      lra.
    + rewrite shift. right. transitivity (h * exp t * (1 - h) * (exp e * z)); [rewrite ez; ring|ring].
    + rewrite shift.
      assert (square : z <= exp e) by lra.
      assert (0 <= h * (1 - h) * exp t) by (apply Rmult_le_pos; lra).
      assert (h * (1 - h) * exp t * z <= h * (1 - h) * exp t * exp e) by (apply Rmult_le_compat_l; assumption). lra.
    + assert (0 <= (exp e - 1) * ((1 - h) * exp (t - e) * (1 - h))).
      { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
      lra.
  - assert (value : moment 2 a p q = exp (a * t - e) * (V / ((a - 1) * O))).
    { unfold moment. cbn [sum p q two_point]. rewrite !power_of_ratio by lra.
      replace (a * (t - e)) with (a * t + - (a * e)) by ring. rewrite exp_plus, zW. fold s.
      replace (a * t - e) with (a * t + - e) by ring. rewrite exp_plus. fold z.
      assert (inner : (h + (1 - h) * (z * s)) * O = x * W - z * V).
      { transitivity (h * O * (1 - z * s) + z * s * O); [ring|]. rewrite hO, defO, defW, defV. ring. }
      assert (best_ : (x * W - z * V) * (a - 1) = z * V) by lra.
      apply Rmult_eq_reg_r with (O * (a - 1)); [|apply Rmult_integral_contrapositive_currified; lra].
      transitivity (exp (a * t) * ((h + (1 - h) * (z * s)) * O * (a - 1))); [ring|].
      rewrite inner, best_. field. split; lra. }
    unfold renyi. rewrite value, ln_mult, ln_exp;
      [|apply exp_pos|apply Rdiv_lt_0_compat; [exact V0|apply Rmult_lt_0_compat; lra]].
    reflexivity.
Qed.
