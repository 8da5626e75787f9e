(* Permute-and-flip is no easier to attack than a number with Laplace noise (`LaplaceDP`). Between two neighbours the
   scores of an event rise little by little; each little is epsilon-DP, and until the event has probability 1/2 its
   probability grows by that factor at most, and from there on that of its complement falls by that factor at most. *)

From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Sums Range Laplace Flip FlipPrivate.
Import ListNotations.
Open Scope R_scope.

Definition raised (s : nat -> R) (E : nat -> bool) (x : R) (i : nat) : R := if E i then s i + x else s i.

(* What others gain costs r. *)
Lemma pf_falls_as_others_rise :
  forall n eta s s' r,
    0 <= eta -> (r < n)%nat -> s' r = s r -> (forall j, (j < n)%nat -> s j <= s' j) ->
    pf n eta s' r <= pf n eta s r.
Proof.
  intros n eta s s' r eta0 lt same rise. rewrite !pf_integral by exact lt. unfold closed_form.
  set (w := coin_of n eta s). set (w' := coin_of n eta s'). set (l := seq 0 n).
  assert (more : best n s <= best n s').
  { destruct (best_is_reached n s ltac:(lia)) as [k [lt_k here]]. rewrite <- here.
    pose proof (rise k lt_k). pose proof (best_is_most n s' k lt_k). lra. }
  set (b := exp (- (eta * (best n s' - best n s)))).
  assert (b0 : 0 < b) by apply exp_pos.
  assert (b1 : b <= 1).
  { unfold b. rewrite <- exp_0. apply exp_monotone.
    assert (0 <= eta * (best n s' - best n s)) by (apply Rmult_le_pos; lra). lra. }
  assert (at_r : w' r = b * w r).
  { unfold w, w', b, coin_of, gap. rewrite <- exp_plus, same. f_equal. ring. }
  assert (others : forall j, (j < n)%nat -> b * w j <= w' j).
  { intros j lt_j. unfold w, w', b, coin_of, gap. rewrite <- exp_plus. apply exp_monotone.
    assert (0 <= eta * (s' j - s j)) by (apply Rmult_le_pos; [lra|pose proof (rise j lt_j); lra]). lra. }
  assert (unit : forall j, (j < n)%nat -> 0 < w' j <= 1) by (intros j lt_j; apply coin_unit; assumption).
  assert (unit_w : forall j, (j < n)%nat -> 0 < w j <= 1) by (intros j lt_j; apply coin_unit; assumption).
  assert (cont : forall t, continuous (fun t => none_else w l r (b * t)) t).
  { intros t. apply (continuous_comp (fun t => b * t) (none_else w l r)); [|apply none_else_continuous].
    apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id]. }
  assert (slow : RInt (none_else w' l r) 0 1 <= RInt (fun t => none_else w l r (b * t)) 0 1).
  { apply RInt_le; [lra|apply none_else_integrable| |].
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _. apply cont.
    - intros t [t0 t1].
      assert (members : forall j, In j l -> (j < n)%nat) by (intros j there; apply in_seq in there; lia).
      clearbody l. induction l as [|j l IH]; cbn [none_else]; [lra|].
      assert (lt_j : (j < n)%nat) by (apply members; left; reflexivity).
      pose proof (others j lt_j). pose proof (unit j lt_j).
      assert (w' j * t <= 1 * 1) by (apply Rmult_le_compat; lra).
      assert (b * w j * t <= w' j * t) by (apply Rmult_le_compat_r; lra).
      assert (inner : none_else w' l r t <= none_else w l r (b * t)).
      { apply IH; [|intros k there; apply members; right; exact there].
        intros u. apply (continuous_comp (fun t => b * t) (none_else w l r)); [|apply none_else_continuous].
        apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id]. }
      assert (0 <= none_else w' l r t).
      { apply none_else_nonneg; [lra|]. intros k there. pose proof (unit k (members k (or_intror there))).
        assert (w' k * t <= 1 * 1) by (apply Rmult_le_compat; lra). lra. }
      apply Rmult_le_compat; try assumption; destruct (Nat.eqb j r); lra. }
  assert (change : b * RInt (fun t => none_else w l r (b * t)) 0 1 = RInt (none_else w l r) 0 b).
  { pose proof (RInt_comp_lin (V := R_CompleteNormedModule) (none_else w l r) b 0 0 1) as stretch.
    rewrite Rmult_0_r, !Rplus_0_r, Rmult_1_r in stretch.
    rewrite <- stretch by apply none_else_integrable.
    rewrite <- (RInt_scal (V := R_CompleteNormedModule) (fun t => none_else w l r (b * t))).
    - apply RInt_ext. intros t _. rewrite Rplus_0_r. reflexivity.
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _. apply cont. }
  assert (part : RInt (none_else w l r) 0 b <= RInt (none_else w l r) 0 1).
  { assert (whole : RInt (none_else w l r) 0 b + RInt (none_else w l r) b 1 = RInt (none_else w l r) 0 1)
      by (apply (RInt_Chasles (V := R_CompleteNormedModule)); apply none_else_integrable).
    assert (0 <= RInt (none_else w l r) b 1).
    { apply RInt_ge_0; [exact b1|apply none_else_integrable|]. intros t [t0 t1].
      apply none_else_nonneg; [lra|]. intros j there. apply in_seq in there.
      pose proof (unit_w j ltac:(lia)). assert (w j * t <= 1 * 1) by (apply Rmult_le_compat; lra). lra. }
    lra. }
  rewrite at_r. pose proof (unit_w r lt) as [r0 _].
  apply Rle_trans with (w r * (b * RInt (fun t => none_else w l r (b * t)) 0 1)).
  - replace (b * w r * RInt (none_else w' l r) 0 1) with (w r * (b * RInt (none_else w' l r) 0 1)) by ring.
    apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
  - rewrite change. apply Rmult_le_compat_l; lra.
Qed.

Lemma complement : forall n p E, law n p -> prob n p (fun i => negb (E i)) = 1 - prob n p E.
Proof.
  intros n p E [_ one]. unfold prob. transitivity (sum n p - sum n (fun i => if E i then p i else 0)); [|lra].
  rewrite <- sum_minus. apply sum_ext. intros i _. destruct (E i); cbn; lra.
Qed.

Lemma prob_le :
  forall n p q (E : nat -> bool), (forall i, (i < n)%nat -> E i = true -> p i <= q i) -> prob n p E <= prob n q E.
Proof.
  intros n p q E le. apply sum_le. intros i lt. destruct (E i) eqn:member; [apply le; assumption|lra].
Qed.

(* An event gains if its own scores rise, and all others fall. *)
Lemma event_gains :
  forall n eta s s' (E : nat -> bool),
    0 <= eta -> (0 < n)%nat ->
    (forall i, (i < n)%nat -> if E i then s i <= s' i else s' i <= s i) ->
    prob n (pf n eta s) E <= prob n (pf n eta s') E.
Proof.
  intros n eta s s' E eta0 some all.
  set (mid := fun i => if E i then s' i else s i).
  apply Rle_trans with (prob n (pf n eta mid) E).
  - pose proof (complement n (pf n eta s) E (pf_law n eta s eta0 some)) as c.
    pose proof (complement n (pf n eta mid) E (pf_law n eta mid eta0 some)) as c'.
    assert (prob n (pf n eta mid) (fun i => negb (E i)) <= prob n (pf n eta s) (fun i => negb (E i))); [|lra].
    apply prob_le. intros i lt out. apply pf_falls_as_others_rise; try assumption.
    + unfold mid. destruct (E i); [discriminate|reflexivity].
    + intros j lt_j. pose proof (all j lt_j). unfold mid. destruct (E j); lra.
  - apply prob_le. intros i lt member. apply pf_falls_as_others_rise; try assumption.
    + unfold mid. rewrite member. reflexivity.
    + intros j lt_j. pose proof (all j lt_j). unfold mid. destruct (E j); lra.
Qed.

Lemma raised_twice : forall s E x y i, raised (raised s E x) E y i = raised s E (x + y) i.
Proof. intros s E x y i. unfold raised. destruct (E i); ring. Qed.

Lemma raised_private :
  forall n eta s E x y,
    0 <= eta -> 0 <= y -> private n (eta * y) (pf n eta (raised s E (x + y))) (pf n eta (raised s E x)).
Proof.
  intros n eta s E x y eta0 y0. apply pf_private; try assumption.
  intros i j lt_i lt_j _ _. unfold raised. destruct (E i), (E j); lra.
Qed.

Lemma raised_in_laplace :
  forall n eta s E y,
    0 < eta -> (0 < n)%nat -> 0 <= y -> 0 < prob n (pf n eta s) E < 1 ->
    prob n (pf n eta (raised s E y)) E <= laplace_shifted (eta * y) (prob n (pf n eta s) E).
Proof.
  intros n eta s E y eta0 some y0 between_.
  assert (start : prob n (pf n eta (raised s E 0)) E = prob n (pf n eta s) E).
  { assert (le : forall t t', (forall i, (i < n)%nat -> t i = t' i) -> prob n (pf n eta t) E <= prob n (pf n eta t') E).
    { intros t t' same. apply event_gains; [lra|exact some|]. intros i lt. rewrite (same i lt). destruct (E i); lra. }
    apply Rle_antisym; apply le; intros i _; unfold raised; destruct (E i); ring. }
  set (p := prob n (pf n eta s) E) in *.
  (* until 1/2, and from there *)
  assert (grow : forall x z, 0 <= z -> prob n (pf n eta (raised s E (x + z))) E <= exp (eta * z) * prob n (pf n eta (raised s E x)) E).
  { intros x z z0. apply (raised_private n eta s E x z ltac:(lra) z0). }
  assert (shrink : forall x z, 0 <= z ->
            exp (- (eta * z)) * (1 - prob n (pf n eta (raised s E x)) E) <= 1 - prob n (pf n eta (raised s E (x + z))) E).
  { intros x z z0. destruct (raised_private n eta s E x z ltac:(lra) z0 (fun i => negb (E i))) as [_ down].
    rewrite !complement in down by (apply pf_law; [lra|exact some]).
    rewrite exp_Ropp. pose proof (exp_pos (eta * z)) as e0.
    apply Rmult_le_reg_l with (exp (eta * z)); [exact e0|]. rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  assert (ey : 0 <= eta * y) by (apply Rmult_le_pos; lra).
  unfold laplace_shifted, quantile. destruct (Rle_dec p (1 / 2)) as [low|high].
  - unfold laplace. destruct (Rlt_dec (ln (2 * p) + eta * y) 0) as [early|late].
    + rewrite exp_plus, exp_ln by lra. pose proof (grow 0 y y0) as g. rewrite Rplus_0_l, start in g. lra.
    + set (x := - ln (2 * p) / eta).
      assert (ex : eta * x = - ln (2 * p)) by (unfold x; field; lra).
      assert (low0 : ln (2 * p) <= 0).
      { rewrite <- ln_1. destruct (Req_dec p (1 / 2)) as [half|other]; [rewrite half; right; f_equal; field|].
        left. apply ln_increasing; lra. }
      assert (x0 : 0 <= x) by (apply Rmult_le_reg_l with eta; lra).
      assert (xy : x <= y) by (apply Rmult_le_reg_l with eta; lra).
      pose proof (grow 0 x x0) as g. rewrite Rplus_0_l, start, ex, exp_Ropp, exp_ln in g by lra.
      replace (/ (2 * p) * p) with (1 / 2) in g by (field; lra).
      pose proof (shrink x (y - x) ltac:(lra)) as sh. replace (x + (y - x)) with y in sh by ring.
      replace (- (ln (2 * p) + eta * y)) with (- (eta * (y - x))) by (rewrite Rmult_minus_distr_l, ex; ring).
      pose proof (exp_pos (- (eta * (y - x)))) as e0.
      assert (exp (- (eta * (y - x))) * (1 / 2) <= exp (- (eta * (y - x))) * (1 - prob n (pf n eta (raised s E x)) E))
        by (apply Rmult_le_compat_l; lra).
      lra.
  - assert (neg : ln (2 * (1 - p)) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    unfold laplace. destruct (Rlt_dec (- ln (2 * (1 - p)) + eta * y) 0) as [early|_]; [lra|].
    pose proof (shrink 0 y y0) as sh. rewrite Rplus_0_l, start in sh.
    replace (- (- ln (2 * (1 - p)) + eta * y)) with (ln (2 * (1 - p)) + - (eta * y)) by ring.
    rewrite exp_plus, exp_ln by lra. lra.
Qed.

Lemma pf_one_way :
  forall n eta D s s' E,
    0 < eta -> 0 <= D -> spread n (fun _ => 1) D s s' -> 0 < prob n (pf n eta s) E < 1 ->
    prob n (pf n eta s') E <= laplace_shifted (eta * D) (prob n (pf n eta s) E).
Proof.
  intros n eta D s s' E eta0 D0 all between_.
  destruct n as [|n]; [unfold prob in between_; cbn in between_; lra|].
  destruct (least_change (S n) (fun i => s' i - s i) ltac:(lia)) as [m [lt_m least]].
  set (low := s' m - s m) in *.
  assert (change : forall j, (j < S n)%nat -> low <= s' j - s j <= low + D).
  { intros j lt_j. pose proof (least j lt_j). pose proof (all j m lt_j lt_m ltac:(lra) ltac:(lra)) as most.
    fold low in most. lra. }
  (* a constant added to all scores changes nothing *)
  assert (shift : prob (S n) (pf (S n) eta (fun i => s' i - low)) E = prob (S n) (pf (S n) eta s') E).
  { assert (zero : spread (S n) (fun _ => 1) 0 s' (fun i => s' i - low)) by (intros i j lt_i lt_j _ _; lra).
    destruct (pf_private (S n) eta 0 s' (fun i => s' i - low) ltac:(lra) ltac:(lra) zero E) as [up down].
    rewrite Rmult_0_r, exp_0 in up, down. lra. }
  rewrite <- shift.
  apply Rle_trans with (prob (S n) (pf (S n) eta (raised s E D)) E).
  - apply event_gains; [lra|lia|]. intros i lt. pose proof (change i lt). unfold raised. destruct (E i); lra.
  - apply raised_in_laplace; [exact eta0|lia|exact D0|exact between_].
Qed.

Theorem pf_is_laplace :
  forall n eta D s s',
    0 < eta -> 0 <= D -> spread n (fun _ => 1) D s s' -> as_laplace n (eta * D) (pf n eta s') (pf n eta s).
Proof.
  assert (one : forall n eta D s s' E, 0 < eta -> 0 <= D -> spread n (fun _ => 1) D s s' ->
            below_laplace (eta * D) (prob n (pf n eta s) E) (prob n (pf n eta s') E)).
  { intros n eta D s s' E eta0 D0 all. split; [|apply pf_one_way; assumption].
    intros zero. destruct n as [|n]; [reflexivity|].
    destruct (pf_private (S n) eta D s s' ltac:(lra) D0 all E) as [up _]. rewrite zero, Rmult_0_r in up.
    pose proof (prob_nonneg (S n) (pf (S n) eta s') E (pf_law (S n) eta s' ltac:(lra) ltac:(lia))). lra. }
  intros n eta D s s' eta0 D0 all E. split; apply one; try assumption. apply spread_symmetric. exact all.
Qed.
