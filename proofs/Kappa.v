(* The least rho of a bounded range, as a function of epsilon, and what the proof of it needs from calculus.

   With u = epsilon / 2 it is the derivative at u of k (v) = v * ln (sinh v / v). All signs below follow from
   cosh v >= sinh v / v >= 1, and that of the fourth derivative from a sum of two squares. *)

From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Sums Range.
Open Scope R_scope.

(* k - 1 - ln k with k = e / (exp e - 1); nothing where nothing differs. *)
Definition kappa (e : R) : R :=
  if Rlt_dec 0 e then e / (exp e - 1) - 1 - ln (e / (exp e - 1)) else 0.

(* ---- Hyperbolic functions ---- *)

Lemma squares : forall v, cosh v * cosh v - sinh v * sinh v = 1.
Proof.
  intros v. unfold cosh, sinh. pose proof (exp_pos v).
  assert (inverse : exp v * exp (- v) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
Qed.

Lemma sinh_derive : forall v, is_derive sinh v (cosh v).
Proof. intros v. apply is_derive_Reals. apply derivable_pt_lim_sinh. Qed.

Lemma cosh_derive : forall v, is_derive cosh v (sinh v).
Proof. intros v. apply is_derive_Reals. apply derivable_pt_lim_cosh. Qed.

Ltac side := repeat split; try exact I; try lra;
  try (apply Rmult_lt_0_compat; [lra|apply Rinv_0_lt_compat; lra]);
  repeat match goal with |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified end; try lra.

(* A function does not rise where its derivative is not positive. *)
Lemma falls_by_derivative :
  forall f df a b,
    a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) -> (forall x, a <= x <= b -> df x <= 0) -> f b <= f a.
Proof.
  intros f df a b le der sign. destruct (MVT_gen f a b df) as [c [within value]].
  - intros x. rewrite Rmin_left, Rmax_right by exact le. intros [x0 x1]. apply der. lra.
  - intros x. rewrite Rmin_left, Rmax_right by exact le. intros x01.
    apply continuity_pt_filterlim. apply (ex_derive_continuous (V := R_NormedModule)).
    exists (df x). apply der. exact x01.
  - rewrite Rmin_left, Rmax_right in within by exact le.
    assert (0 <= - df c * (b - a)) by (apply Rmult_le_pos; [pose proof (sign c within)|]; lra). lra.
Qed.

Lemma cosh_at_least_one : forall v, 1 <= cosh v.
Proof.
  intros v. unfold cosh. pose proof (exp_pos v) as e0. rewrite exp_Ropp.
  assert (square : 0 <= (exp v - 1) * (exp v - 1) * / exp v).
  { apply Rmult_le_pos; [apply Rle_0_sqr|left; apply Rinv_0_lt_compat; exact e0]. }
  replace ((exp v - 1) * (exp v - 1) * / exp v) with (exp v + / exp v - 2) in square by (field; lra). lra.
Qed.

Lemma sinh_above : forall v, 0 <= v -> v <= sinh v.
Proof.
  intros v v0.
  assert (fall : (fun x => x - sinh x) v <= (fun x => x - sinh x) 0).
  { apply (falls_by_derivative (fun x => x - sinh x) (fun x => 1 - cosh x)); [exact v0| |].
    - intros x _. apply (is_derive_minus (V := R_NormedModule)); [apply (is_derive_id (K := R_AbsRing))|apply sinh_derive].
    - intros x _. pose proof (cosh_at_least_one x). lra. }
  cbn in fall. rewrite sinh_0 in fall. lra.
Qed.

Lemma sinh_below : forall v, 0 <= v -> sinh v <= v * cosh v.
Proof.
  intros v v0.
  assert (fall : (fun x => sinh x - x * cosh x) v <= (fun x => sinh x - x * cosh x) 0).
  { apply (falls_by_derivative (fun x => sinh x - x * cosh x) (fun x => - (x * sinh x))); [exact v0| |].
    - intros x _. auto_derive; [side|]. ring.
    - intros x [x0 _]. pose proof (sinh_above x x0).
      assert (0 <= x * sinh x) by (apply Rmult_le_pos; lra). lra. }
  cbn in fall. rewrite sinh_0 in fall. lra.
Qed.

(* ---- k and its derivatives ---- *)

Definition k0 (v : R) : R := v * ln (sinh v / v).
Definition k1 (v : R) : R := ln (sinh v / v) + v * cosh v / sinh v - 1.
Definition k2 (v : R) : R := 2 * cosh v / sinh v - / v - v / (sinh v * sinh v).
Definition k3 (v : R) : R :=
  / (v * v) - 3 / (sinh v * sinh v) + 2 * v * cosh v / (sinh v * sinh v * sinh v).
Definition k4 (v : R) : R :=
  - 2 / (v * v * v) + 8 * cosh v / (sinh v * sinh v * sinh v)
  - 2 * v * (2 * (cosh v * cosh v) + 1) / (sinh v * sinh v * sinh v * sinh v).

Lemma sinh_positive : forall v, 0 < v -> 0 < sinh v.
Proof. intros v v0. pose proof (sinh_above v ltac:(lra)). lra. Qed.

Lemma k0_derive : forall v, 0 < v -> is_derive k0 v (k1 v).
Proof.
  intros v v0. pose proof (sinh_positive v v0) as s0. unfold k0. auto_derive.
  - side.
  - unfold k1, Rdiv. field. lra.
Qed.

Lemma k1_derive : forall v, 0 < v -> is_derive k1 v (k2 v).
Proof.
  intros v v0. pose proof (sinh_positive v v0) as s0. unfold k1. auto_derive.
  - side.
  - unfold k2.
    assert (same : cosh v * cosh v = 1 + sinh v * sinh v) by (pose proof (squares v); lra).
    set (C := cosh v) in *. set (S := sinh v) in *.
    field_simplify_eq; [|lra].
    replace (C ^ 2) with (1 + S * S) by (rewrite <- same; ring). ring.
Qed.

Lemma k2_derive : forall v, 0 < v -> is_derive k2 v (k3 v).
Proof.
  intros v v0. pose proof (sinh_positive v v0) as s0. unfold k2. auto_derive.
  - side.
  - unfold k3.
    assert (same : cosh v * cosh v = 1 + sinh v * sinh v) by (pose proof (squares v); lra).
    set (C := cosh v) in *. set (S := sinh v) in *.
    field_simplify_eq; [|lra].
    replace (C ^ 2) with (1 + S * S) by (rewrite <- same; ring). ring.
Qed.

Lemma k3_derive : forall v, 0 < v -> is_derive k3 v (k4 v).
Proof.
  intros v v0. pose proof (sinh_positive v v0) as s0. unfold k3. auto_derive.
  - side.
  - unfold k4.
    assert (same : cosh v * cosh v = 1 + sinh v * sinh v) by (pose proof (squares v); lra).
    set (C := cosh v) in *. set (S := sinh v) in *.
    field_simplify_eq; [|lra].
    replace (C ^ 2) with (1 + S * S) by (rewrite <- same; ring). ring.
Qed.

(* ---- Signs, from C >= S >= 1 with C = cosh v and S = sinh v / v ---- *)

Definition ratio (v : R) : R := sinh v / v.

Lemma sinh_ratio : forall v, 0 < v -> sinh v = v * ratio v.
Proof. intros v v0. unfold ratio. field. lra. Qed.

Lemma ratio_between : forall v, 0 < v -> 1 <= ratio v <= cosh v.
Proof.
  intros v v0. pose proof (sinh_above v ltac:(lra)) as above. pose proof (sinh_below v ltac:(lra)) as below_.
  rewrite (sinh_ratio v v0) in *. split; apply Rmult_le_reg_l with v; lra.
Qed.

Lemma ratio_square : forall v, 0 < v -> v * v * (ratio v * ratio v) = cosh v * cosh v - 1.
Proof.
  intros v v0. pose proof (squares v) as one. rewrite (sinh_ratio v v0) in one. lra.
Qed.

(* A quotient with a positive denominator has the sign of its numerator. *)
Lemma quotient_nonneg : forall x y, 0 <= x -> 0 < y -> 0 <= x / y.
Proof. intros x y x0 y0. apply Rmult_le_pos; [exact x0|left; apply Rinv_0_lt_compat; exact y0]. Qed.

Lemma ln_below : forall x, 0 < x -> ln x <= x - 1.
Proof.
  intros x x0. destruct (Req_dec (ln x) 0) as [zero|other].
  - assert (x = 1) by (rewrite <- (exp_ln x x0), zero; apply exp_0). rewrite zero. lra.
  - pose proof (exp_ineq1 (ln x) other) as above. rewrite exp_ln in above by exact x0. lra.
Qed.

Lemma ln_above : forall x, 0 < x -> 1 - / x <= ln x.
Proof.
  intros x x0. pose proof (ln_below (/ x) ltac:(apply Rinv_0_lt_compat; exact x0)) as above.
  rewrite ln_Rinv in above by exact x0. lra.
Qed.

Lemma k0_nonneg : forall v, 0 < v -> 0 <= k0 v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 _]. unfold k0. fold (ratio v).
  apply Rmult_le_pos; [lra|]. rewrite <- ln_1. destruct (Rle_lt_or_eq_dec 1 (ratio v) r1) as [more|same].
  - left. apply ln_increasing; lra.
  - rewrite <- same. lra.
Qed.

Lemma k1_nonneg : forall v, 0 < v -> 0 <= k1 v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k1. fold (ratio v).
  pose proof (ln_above (ratio v) ltac:(lra)) as low.
  rewrite (sinh_ratio v v0).
  replace (v * cosh v / (v * ratio v)) with (cosh v / ratio v) by (field; lra).
  assert (inverse : / ratio v <= 1) by (apply Rmult_le_reg_l with (ratio v); [lra|]; rewrite Rinv_r; lra).
  assert (quotient : 1 <= cosh v / ratio v).
  { apply Rmult_le_reg_r with (ratio v); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  lra.
Qed.

Lemma k2_nonneg : forall v, 0 < v -> 0 <= k2 v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k2. rewrite (sinh_ratio v v0).
  replace (2 * cosh v / (v * ratio v) - / v - v / (v * ratio v * (v * ratio v)))
    with ((2 * cosh v * ratio v - ratio v * ratio v - 1) / (v * (ratio v * ratio v))) by (field; lra).
  apply quotient_nonneg; [nra|]. apply Rmult_lt_0_compat; [exact v0|nra].
Qed.

Lemma k2_below : forall v, 0 < v -> k2 v <= v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. pose proof (ratio_square v v0) as square.
  unfold k2. rewrite (sinh_ratio v v0).
  assert (difference : v - (2 * cosh v / (v * ratio v) - / v - v / (v * ratio v * (v * ratio v)))
    = ((cosh v - ratio v) * (cosh v - ratio v)) / (v * (ratio v * ratio v))).
  { replace (v - (2 * cosh v / (v * ratio v) - / v - v / (v * ratio v * (v * ratio v))))
      with ((v * v * (ratio v * ratio v) + ratio v * ratio v + 1 - 2 * cosh v * ratio v) / (v * (ratio v * ratio v)))
      by (field; lra).
    rewrite square. f_equal. ring. }
  assert (0 <= ((cosh v - ratio v) * (cosh v - ratio v)) / (v * (ratio v * ratio v))).
  { apply quotient_nonneg; [apply Rle_0_sqr|]. apply Rmult_lt_0_compat; [exact v0|nra]. }
  lra.
Qed.

Lemma k3_nonneg : forall v, 0 < v -> 0 <= k3 v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k3. rewrite (sinh_ratio v v0).
  replace (/ (v * v) - 3 / (v * ratio v * (v * ratio v)) + 2 * v * cosh v / (v * ratio v * (v * ratio v) * (v * ratio v)))
    with ((ratio v * ratio v * ratio v - 3 * ratio v + 2 * cosh v) / (v * v * (ratio v * ratio v * ratio v)))
    by (field; lra).
  assert (square : 1 <= ratio v * ratio v) by nra.
  assert (cube : 0 <= ratio v * (ratio v * ratio v - 1)) by (apply Rmult_le_pos; lra).
  apply quotient_nonneg; [lra|]. generalize dependent (ratio v). intros r r1 rc square cube.
  repeat apply Rmult_lt_0_compat; lra.
Qed.

Lemma k4_nonpos : forall v, 0 < v -> k4 v <= 0.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k4. rewrite (sinh_ratio v v0).
  set (C := cosh v) in *. set (S := ratio v) in *. clearbody C S.
  assert (same : - 2 / (v * v * v) + 8 * C / (v * S * (v * S) * (v * S))
      - 2 * v * (2 * (C * C) + 1) / (v * S * (v * S) * (v * S) * (v * S))
    = - ((2 * ((C - S) * (C - S)) + (S * S - 1) * (S * S - 1)) * 2 / (v * v * v * (S * S * S * S)))) by (field; lra).
  rewrite same.
  assert (0 <= (2 * ((C - S) * (C - S)) + (S * S - 1) * (S * S - 1)) * 2 / (v * v * v * (S * S * S * S))).
  { apply quotient_nonneg.
    - pose proof (Rle_0_sqr (C - S)) as a. pose proof (Rle_0_sqr (S * S - 1)) as b. unfold Rsqr in *. lra.
    - repeat apply Rmult_lt_0_compat; lra. }
  lra.
Qed.

(* v times the second derivative is at most twice the first: 1 - 1/z <= ln z for z = (sinh v / v)^2. *)
Lemma k2_by_k1 : forall v, 0 < v -> v * k2 v <= 2 * k1 v.
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k1, k2. fold (ratio v). rewrite (sinh_ratio v v0).
  set (C := cosh v) in *. set (S := ratio v) in *.
  pose proof (ln_above (S * S) ltac:(nra)) as low. rewrite ln_mult in low by lra.
  replace (v * (2 * C / (v * S) - / v - v / (v * S * (v * S)))) with (2 * C / S - 1 - / (S * S)) by (field; lra).
  replace (v * C / (v * S)) with (C / S) by (field; lra). lra.
Qed.

(* ---- Near zero ---- *)

Lemma k1_near_zero : forall v, 0 < v -> k1 v <= 2 * (cosh v - 1).
Proof.
  intros v v0. pose proof (ratio_between v v0) as [r1 rc]. unfold k1. fold (ratio v). rewrite (sinh_ratio v v0).
  pose proof (ln_below (ratio v) ltac:(lra)) as high.
  replace (v * cosh v / (v * ratio v)) with (cosh v / ratio v) by (field; lra).
  assert (quotient : cosh v / ratio v <= cosh v).
  { apply Rmult_le_reg_r with (ratio v); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
    assert (cosh v * 1 <= cosh v * ratio v) by (apply Rmult_le_compat_l; lra). lra. }
  lra.
Qed.

(* What is at most f (d) - f (0) for all small d > 0, f continuous at 0, is at most 0. *)
Lemma at_most_limit :
  forall (x : R) (f : R -> R) (b : R), 0 < b -> continuous f 0 -> (forall d, 0 < d < b -> x <= f d) -> x <= f 0.
Proof.
  intros x f b b0 cont below_. apply Rnot_lt_le. intros above.
  destruct (proj1 (filterlim_locally f (f 0)) cont (mkposreal ((x - f 0) / 2) ltac:(lra))) as [d near].
  assert (d0 := cond_pos d). set (t := Rmin (b / 2) (d / 2)).
  assert (t0 : 0 < t) by (unfold t; apply Rmin_glb_lt; lra).
  assert (tb : t <= b / 2) by apply Rmin_l. assert (td : t <= d / 2) by apply Rmin_r.
  specialize (near t). assert (close : ball 0 d t).
  { change (Rabs (t - 0) < d). rewrite Rminus_0_r, Rabs_pos_eq; lra. }
  specialize (near close). change (Rabs (f t - f 0) < (x - f 0) / 2) in near.
  apply Rabs_def2 in near. pose proof (below_ t ltac:(lra)). lra.
Qed.

Lemma rises_by_derivative :
  forall f df a b,
    a <= b -> (forall x, a <= x <= b -> is_derive f x (df x)) -> (forall x, a <= x <= b -> 0 <= df x) -> f a <= f b.
Proof.
  intros f df a b le der sign.
  assert (fall : - f b <= - f a).
  { apply (falls_by_derivative (fun x => - f x) (fun x => - df x)); [exact le| |].
    - intros x x01. apply (is_derive_opp (V := R_NormedModule)). apply der. exact x01.
    - intros x x01. pose proof (sign x x01). lra. }
  lra.
Qed.

Lemma derivable_continuous : forall (f : R -> R) (x l : R), is_derive f x l -> continuous f x.
Proof. intros f x l der. apply (ex_derive_continuous (V := R_NormedModule)). exists l. exact der. Qed.

Lemma shift_continuous : forall (f : R -> R) (u l : R), is_derive f u l -> continuous (fun d => f (u + d)) 0.
Proof.
  intros f u l der. apply (continuous_comp (fun d => u + d) f).
  - apply (continuous_plus (V := R_NormedModule)); [apply continuous_const|apply continuous_id].
  - rewrite Rplus_0_r. apply derivable_continuous with l. exact der.
Qed.

Theorem k1_below_hoeffding : forall u, 0 < u -> k1 u <= u * u / 2.
Proof.
  intros u u0.
  assert (step : forall d, 0 < d < u -> k1 u - u * u / 2 <= 2 * (cosh d - 1)).
  { intros d [d0 du].
    assert (fall : k1 u - u * u / 2 <= k1 d - d * d / 2).
    { apply (falls_by_derivative (fun x => k1 x - x * x / 2) (fun x => k2 x - x)); [lra| |].
      - intros x [x0 _]. apply (is_derive_minus (V := R_NormedModule)); [apply k1_derive; lra|].
        auto_derive; [exact I|field].
      - intros x [x0 _]. pose proof (k2_below x ltac:(lra)). lra. }
    pose proof (k1_near_zero d d0). assert (0 <= d * d) by apply Rle_0_sqr. lra. }
  assert (bound : k1 u - u * u / 2 <= 2 * (cosh 0 - 1)).
  { apply (at_most_limit _ (fun d => 2 * (cosh d - 1)) u u0); [|exact step].
    apply derivable_continuous with (2 * sinh 0). auto_derive; [exact I|ring]. }
  rewrite cosh_0 in bound. lra.
Qed.

(* Two ranges together cost at least what they cost apart. *)
Theorem k1_superadditive : forall u v, 0 < u -> 0 < v -> k1 u + k1 v <= k1 (u + v).
Proof.
  intros u v u0 v0.
  assert (step : forall d, 0 < d < v -> k1 u + k1 v - k1 (u + v) <= d * d / 2).
  { intros d [d0 dv].
    assert (rise : k1 (u + d) - k1 d <= k1 (u + v) - k1 v).
    { apply (rises_by_derivative (fun x => k1 (u + x) - k1 x) (fun x => k2 (u + x) - k2 x)); [lra| |].
      - intros x [x0 _]. apply (is_derive_minus (V := R_NormedModule)); [|apply k1_derive; lra].
        replace (k2 (u + x)) with (1 * k2 (u + x)) by ring.
        apply (is_derive_comp k1 (fun x => u + x)); [apply k1_derive; lra|auto_derive; [exact I|ring]].
      - intros x [x0 _].
        assert (k2 x <= k2 (u + x)); [|lra].
        apply (rises_by_derivative k2 k3); [lra| |]; intros y [y0 _]; [apply k2_derive; lra|apply k3_nonneg; lra]. }
    assert (up : k1 u <= k1 (u + d)).
    { apply (rises_by_derivative k1 k2); [lra| |]; intros y [y0 _]; [apply k1_derive; lra|apply k2_nonneg; lra]. }
    pose proof (k1_below_hoeffding d d0). lra. }
  assert (bound : k1 u + k1 v - k1 (u + v) <= 0 * 0 / 2).
  { apply (at_most_limit _ (fun d => d * d / 2) v v0); [|exact step].
    apply derivable_continuous with 0. auto_derive; [exact I|field]. }
  lra.
Qed.

(* The whole of the matter: by it the Rényi divergence of every order is at most the order times kappa. *)
Theorem k0_of_a_sum :
  forall u v, 0 < u -> 0 < v -> k0 (u + v) - k0 u - k0 v <= v * (u + v) / u * k1 u.
Proof.
  intros u v u0 v0. pose proof (k1_nonneg u u0) as ku1.
  set (c := k1 u / u).
  assert (c0 : 0 <= c) by (apply quotient_nonneg; lra).
  assert (cu : c * u = k1 u) by (unfold c; field; lra).
  (* the third derivative in v is not positive, so the second is at most its limit at 0, and that is not positive *)
  assert (third : forall x y, 0 < x -> x <= y -> k2 (u + y) - k2 y <= k2 (u + x) - k2 x).
  { intros x y x0 xy. apply (falls_by_derivative (fun x => k2 (u + x) - k2 x) (fun x => k3 (u + x) - k3 x)); [exact xy| |].
    - intros z [z0 _]. apply (is_derive_minus (V := R_NormedModule)); [|apply k2_derive; lra].
      replace (k3 (u + z)) with (1 * k3 (u + z)) by ring.
      apply (is_derive_comp k2 (fun x => u + x)); [apply k2_derive; lra|auto_derive; [exact I|ring]].
    - intros z [z0 _].
      assert (k3 (u + z) <= k3 z); [|lra].
      apply (falls_by_derivative k3 k4); [lra| |]; intros y' [y0 _]; [apply k3_derive; lra|apply k4_nonpos; lra]. }
  assert (second : forall y, 0 < y -> k2 (u + y) - k2 y - 2 * c <= 0).
  { intros y y0.
    assert (bound : k2 (u + y) - k2 y - 2 * c <= k2 (u + 0) - 2 * c).
    { apply (at_most_limit _ (fun d => k2 (u + d) - 2 * c) y y0).
      - apply (continuous_minus (V := R_NormedModule)); [|apply continuous_const].
        apply shift_continuous with (k3 u). apply k2_derive. exact u0.
      - intros d [d0 dy]. pose proof (third d y d0 ltac:(lra)). pose proof (k2_nonneg d d0). lra. }
    rewrite Rplus_0_r in bound. pose proof (k2_by_k1 u u0) as by_k1.
    assert (k2 u - 2 * c <= 0); [|lra]. apply Rmult_le_reg_l with u; [exact u0|]. lra. }
  assert (first : forall y, 0 < y -> k1 (u + y) - k1 y - (k1 u + 2 * c * y) <= 0).
  { intros y y0.
    assert (bound : k1 (u + y) - k1 y - (k1 u + 2 * c * y) <= k1 (u + 0) - k1 u).
    { apply (at_most_limit _ (fun d => k1 (u + d) - k1 u) y y0).
      - apply (continuous_minus (V := R_NormedModule)); [|apply continuous_const].
        apply shift_continuous with (k2 u). apply k1_derive. exact u0.
      - intros d [d0 dy].
        assert (fall : k1 (u + y) - k1 y - (k1 u + 2 * c * y) <= k1 (u + d) - k1 d - (k1 u + 2 * c * d)).
        { apply (falls_by_derivative (fun x => k1 (u + x) - k1 x - (k1 u + 2 * c * x)) (fun x => k2 (u + x) - k2 x - 2 * c));
            [lra| |].
          - intros z [z0 _]. apply (is_derive_minus (V := R_NormedModule)); [|auto_derive; [exact I|ring]].
            apply (is_derive_minus (V := R_NormedModule)); [|apply k1_derive; lra].
            replace (k2 (u + z)) with (1 * k2 (u + z)) by ring.
            apply (is_derive_comp k1 (fun x => u + x)); [apply k1_derive; lra|auto_derive; [exact I|ring]].
          - intros z [z0 _]. apply second. lra. }
        pose proof (k1_nonneg d d0). assert (0 <= c * d) by (apply Rmult_le_pos; lra). lra. }
    rewrite Rplus_0_r in bound. lra. }
  assert (whole : k0 (u + v) - k0 v - (k1 u * v + c * (v * v)) <= k0 (u + 0)).
  { apply (at_most_limit _ (fun d => k0 (u + d)) v v0).
    - apply shift_continuous with (k1 u). apply k0_derive. exact u0.
    - intros d [d0 dv].
      assert (fall : k0 (u + v) - k0 v - (k1 u * v + c * (v * v)) <= k0 (u + d) - k0 d - (k1 u * d + c * (d * d))).
      { apply (falls_by_derivative (fun x => k0 (u + x) - k0 x - (k1 u * x + c * (x * x)))
                 (fun x => k1 (u + x) - k1 x - (k1 u + 2 * c * x))); [lra| |].
        - intros z [z0 _]. apply (is_derive_minus (V := R_NormedModule)); [|auto_derive; [exact I|ring]].
          apply (is_derive_minus (V := R_NormedModule)); [|apply k0_derive; lra].
          replace (k1 (u + z)) with (1 * k1 (u + z)) by ring.
          apply (is_derive_comp k0 (fun x => u + x)); [apply k0_derive; lra|auto_derive; [exact I|ring]].
        - intros z [z0 _]. apply first. lra. }
      pose proof (k0_nonneg d d0). assert (0 <= k1 u * d) by (apply Rmult_le_pos; lra).
      assert (0 <= c * (d * d)) by (apply Rmult_le_pos; [exact c0|apply Rle_0_sqr]). lra. }
  rewrite Rplus_0_r in whole.
  replace (v * (u + v) / u * k1 u) with (k1 u * v + c * (v * v)) by (unfold c; field; lra). lra.
Qed.

(* ---- The same in terms of epsilon ---- *)

Lemma exp_minus_one : forall e, exp e - 1 = 2 * exp (e / 2) * sinh (e / 2).
Proof.
  intros e. unfold sinh.
  replace (exp e) with (exp (e / 2) * exp (e / 2)) by (rewrite <- exp_plus; f_equal; field).
  assert (inverse : exp (e / 2) * exp (- (e / 2)) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0). lra.
Qed.

Theorem kappa_is_k1 : forall e, 0 < e -> kappa e = k1 (e / 2).
Proof.
  intros e e0. unfold kappa. destruct (Rlt_dec 0 e) as [_|not]; [|contradiction].
  set (u := e / 2). assert (u0 : 0 < u) by (unfold u; lra).
  pose proof (sinh_positive u u0) as s0. pose proof (exp_pos u) as x0.
  rewrite exp_minus_one. fold u. replace e with (2 * u) at 1 2 by (unfold u; field).
  assert (shape : 2 * u / (2 * exp u * sinh u) = exp (- u) * / (sinh u / u)).
  { rewrite exp_Ropp. field. lra. }
  assert (r0 : 0 < sinh u / u) by (apply Rdiv_lt_0_compat; assumption).
  rewrite shape at 2. rewrite ln_mult, ln_exp, ln_Rinv; [|exact r0|apply exp_pos|apply Rinv_0_lt_compat; exact r0].
  assert (first : 2 * u / (2 * exp u * sinh u) = u * cosh u / sinh u - u).
  { replace (u * cosh u / sinh u - u) with (u * (cosh u - sinh u) / sinh u) by (field; lra).
    replace (cosh u - sinh u) with (/ exp u) by (unfold cosh, sinh; rewrite <- exp_Ropp; field). field. lra. }
  rewrite first. unfold k1. ring.
Qed.

Theorem kappa_below_hoeffding : forall e, 0 <= e -> kappa e <= e * e / 8.
Proof.
  intros e e0. destruct (Rle_lt_or_eq_dec 0 e e0) as [more|zero].
  - rewrite kappa_is_k1 by exact more. pose proof (k1_below_hoeffding (e / 2) ltac:(lra)). lra.
  - subst. unfold kappa. destruct (Rlt_dec 0 0); lra.
Qed.

Theorem kappa_superadditive : forall d e, 0 <= d -> 0 <= e -> kappa d + kappa e <= kappa (d + e).
Proof.
  assert (zero : kappa 0 = 0) by (unfold kappa; destruct (Rlt_dec 0 0); lra).
  intros d e d0 e0. destruct (Rle_lt_or_eq_dec 0 d d0) as [more_d|none]; [|subst; rewrite zero, !Rplus_0_l; lra].
  destruct (Rle_lt_or_eq_dec 0 e e0) as [more_e|none]; [|subst; rewrite zero, !Rplus_0_r; lra].
  rewrite !kappa_is_k1 by lra. replace ((d + e) / 2) with (d / 2 + e / 2) by field.
  apply k1_superadditive; lra.
Qed.

Lemma kappa_nonneg : forall e, 0 <= kappa e.
Proof.
  intros e. destruct (Rlt_dec 0 e) as [more|none].
  - rewrite kappa_is_k1 by exact more. apply k1_nonneg. lra.
  - unfold kappa. destruct (Rlt_dec 0 e); [contradiction|lra].
Qed.
