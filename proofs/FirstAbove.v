(* First above: of thresholds in a public order, the first whose count with noise reaches a level with noise.
   docs/reference/mechanisms/above_threshold.md#first_above.

   g j is the count of threshold j less the wanted one; the level Z is exponential with rate r1, the noise of each
   threshold with rate r2. A probability is the least upper bound of the integrals over levels from 0 to T. *)

From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

Lemma exp_le : forall x y, x <= y -> exp x <= exp y.
Proof. intros x y [lt| ->]; [left; apply exp_increasing; exact lt|right; reflexivity]. Qed.

Section Mechanism.
Variables r1 r2 : R.
Hypothesis r1_positive : 0 < r1.
Hypothesis r2_positive : 0 < r2.

(* The chance that noise with rate r2 is below y, and that it is not. *)
Definition below (y : R) : R := Rmax 0 (1 - exp (- (r2 * y))).
Definition reaches (y : R) : R := 1 - below y.

(* At the level z: that none of the first i thresholds reaches it, and that i is the first. *)
Fixpoint passes (g : nat -> R) (i : nat) (z : R) : R :=
  match i with
  | O => 1
  | S j => passes g j z * below (z - g j)
  end.

Definition first (g : nat -> R) (i : nat) (z : R) : R := passes g i z * reaches (z - g i).

Definition weighed (h : R -> R) (z : R) : R := r1 * exp (- (r1 * z)) * h z.
Definition upto (h : R -> R) (T : R) : R := RInt (weighed h) 0 T.
Definition chance (h : R -> R) (p : R) : Prop := is_lub (fun x => exists T, 0 <= T /\ x = upto h T) p.

(* ---- What is drawn is a probability ---- *)

Lemma below_range : forall y, 0 <= below y <= 1.
Proof.
  intros y. unfold below. split; [apply Rmax_l|]. apply Rmax_lub; [lra|]. pose proof (exp_pos (- (r2 * y))). lra.
Qed.

Lemma below_grows : forall x y, x <= y -> below x <= below y.
Proof.
  intros x y le. unfold below. apply Rle_max_compat_l.
  assert (exp (- (r2 * y)) <= exp (- (r2 * x))).
  { apply exp_le. apply Ropp_le_contravar. apply Rmult_le_compat_l; lra. }
  lra.
Qed.

(* A distance that grows by s costs e^(r2 s) at the threshold that is reached. *)
Lemma reaches_falls : forall y s, 0 <= s -> reaches y <= exp (r2 * s) * reaches (y + s).
Proof.
  intros y s s0. unfold reaches, below.
  assert (split : exp (- (r2 * y)) = exp (r2 * s) * exp (- (r2 * (y + s)))) by (rewrite <- exp_plus; f_equal; lra).
  assert (one : 1 <= exp (r2 * s)).
  { rewrite <- exp_0 at 1. apply exp_le. apply Rmult_le_pos; lra. }
  pose proof (exp_pos (- (r2 * y))). pose proof (exp_pos (- (r2 * (y + s)))).
  set (a := exp (- (r2 * y))) in *. set (b := exp (- (r2 * (y + s)))) in *. set (c := exp (r2 * s)) in *.
  unfold Rmax. destruct (Rle_dec 0 (1 - a)), (Rle_dec 0 (1 - b)); lra.
Qed.

Lemma passes_range : forall g i z, 0 <= passes g i z <= 1.
Proof.
  intros g i z. induction i as [|i IH]; cbn [passes]; [lra|]. pose proof (below_range (z - g i)) as range. split.
  - apply Rmult_le_pos; lra.
  - assert (passes g i z * below (z - g i) <= 1 * 1) by (apply Rmult_le_compat; lra). lra.
Qed.

Lemma first_range : forall g i z, 0 <= first g i z <= 1.
Proof.
  intros g i z. unfold first, reaches. pose proof (passes_range g i z). pose proof (below_range (z - g i)). split.
  - apply Rmult_le_pos; lra.
  - assert (passes g i z * (1 - below (z - g i)) <= 1 * 1) by (apply Rmult_le_compat; lra). lra.
Qed.

Lemma below_continuous : forall c z, continuous (fun z => below (z - c)) z.
Proof.
  intros c z. unfold below.
  apply continuous_ext with (fun z => (0 + (1 - exp (- (r2 * (z - c)))) + Rabs (0 - (1 - exp (- (r2 * (z - c)))))) / 2).
  - intros x. unfold Rmax, Rabs. destruct (Rle_dec 0 (1 - exp (- (r2 * (x - c))))), (Rcase_abs (0 - (1 - exp (- (r2 * (x - c)))))); lra.
  - apply continuity_pt_filterlim. reg.
Qed.

Lemma passes_continuous : forall g i z, continuous (passes g i) z.
Proof.
  intros g i z. induction i as [|i IH]; cbn [passes].
  - apply continuous_const.
  - apply (continuous_mult (passes g i) (fun z => below (z - g i))); [exact IH|apply below_continuous].
Qed.

Lemma first_continuous : forall g i z, continuous (first g i) z.
Proof.
  intros g i z. unfold first.
  apply (continuous_mult (passes g i) (fun z => reaches (z - g i))); [apply passes_continuous|].
  unfold reaches. apply (continuous_minus (fun _ => 1) (fun z => below (z - g i))); [apply continuous_const|apply below_continuous].
Qed.

Definition density_like (h : R -> R) : Prop := (forall z, 0 <= h z <= 1) /\ (forall z, continuous h z).

Lemma weighed_continuous : forall h z, (forall z, continuous h z) -> continuous (weighed h) z.
Proof.
  intros h z cont. unfold weighed. apply (continuous_mult (fun z => r1 * exp (- (r1 * z))) h); [|apply cont].
  apply continuity_pt_filterlim. reg.
Qed.

Lemma weighed_integrable : forall h a b, (forall z, continuous h z) -> ex_RInt (weighed h) a b.
Proof.
  intros h a b cont. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros z _. apply weighed_continuous, cont.
Qed.

Lemma weighed_nonneg : forall h z, 0 <= h z -> 0 <= weighed h z.
Proof.
  intros h z h0. unfold weighed. pose proof (exp_pos (- (r1 * z))). apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact h0].
Qed.

Lemma whole : forall T, is_RInt (fun z => r1 * exp (- (r1 * z))) 0 T (1 - exp (- (r1 * T))).
Proof.
  intros T. replace (1 - exp (- (r1 * T))) with (minus (- exp (- (r1 * T))) (- exp (- (r1 * 0)))).
  - apply (is_RInt_derive (V := R_CompleteNormedModule) (fun z => - exp (- (r1 * z)))).
    + intros z _. auto_derive; [trivial|]. lra.
    + intros z _. apply continuity_pt_filterlim. reg.
  - rewrite Rmult_0_r, Ropp_0, exp_0. unfold minus, plus, opp. cbn. lra.
Qed.

Theorem chance_exists : forall h, density_like h -> exists p, chance h p /\ 0 <= p <= 1.
Proof.
  intros h [range cont].
  assert (bound : forall T, 0 <= T -> 0 <= upto h T <= 1).
  { intros T T0. unfold upto. split.
    - apply RInt_ge_0; [exact T0|apply weighed_integrable, cont|]. intros z _. apply weighed_nonneg, range.
    - apply Rle_trans with (RInt (fun z => r1 * exp (- (r1 * z))) 0 T).
      + apply RInt_le; [exact T0|apply weighed_integrable, cont|eexists; apply whole|].
        intros z _. unfold weighed. pose proof (exp_pos (- (r1 * z))).
        assert (r1 * exp (- (r1 * z)) * h z <= r1 * exp (- (r1 * z)) * 1).
        { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|apply range]. }
        lra.
      + rewrite (is_RInt_unique _ _ _ _ (whole T)). pose proof (exp_pos (- (r1 * T))). lra. }
  destruct (completeness (fun x => exists T, 0 <= T /\ x = upto h T)) as [p is_p].
  - exists 1. intros x [T [T0 ->]]. apply bound, T0.
  - exists (upto h 0), 0. split; [lra|reflexivity].
  - exists p. split; [exact is_p|]. destruct is_p as [above least]. split.
    + apply Rle_trans with (upto h 0); [apply bound; lra|]. apply above. exists 0. split; [lra|reflexivity].
    + apply least. intros x [T [T0 ->]]. apply bound, T0.
Qed.

(* ---- A level that moves up by s costs e^(r1 s) ---- *)

Lemma moved_up :
  forall h h' c s p p', density_like h -> density_like h' -> 0 <= s -> 0 <= c ->
    (forall z, 0 <= z -> h z <= c * h' (z + s)) -> chance h p -> chance h' p' -> p <= c * exp (r1 * s) * p'.
Proof.
  intros h h' c s p p' [range cont] [range' cont'] s0 c0 each [_ least] [above' _].
  apply least. intros x [T [T0 ->]].
  pose proof (exp_pos (r1 * s)) as factor.
  apply Rle_trans with (c * exp (r1 * s) * upto h' (T + s)).
  2: { apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply above'. exists (T + s). split; [lra|reflexivity]. }
  assert (shift : RInt (fun z => weighed h' (z + s)) 0 T = RInt (weighed h') s (T + s)).
  { pose proof (RInt_comp_lin (V := R_CompleteNormedModule) (weighed h') 1 s 0 T
      (weighed_integrable h' _ _ cont')) as lin.
    replace (1 * 0 + s) with s in lin by lra. replace (1 * T + s) with (T + s) in lin by lra.
    rewrite <- lin. apply RInt_ext. intros z _. unfold scal. cbn. unfold mult. cbn. rewrite !Rmult_1_l. reflexivity. }
  assert (shifted : ex_RInt (fun z => weighed h' (z + s)) 0 T).
  { apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros z _.
    apply (continuous_comp (fun z => z + s) (weighed h')); [|apply weighed_continuous, cont'].
    apply (continuous_plus (fun z => z) (fun _ => s)); [apply continuous_id|apply continuous_const]. }
  apply Rle_trans with (c * exp (r1 * s) * RInt (weighed h') s (T + s)).
  - rewrite <- shift. unfold upto.
    assert (pull : c * exp (r1 * s) * RInt (fun z => weighed h' (z + s)) 0 T
                   = RInt (fun z => scal (c * exp (r1 * s)) (weighed h' (z + s))) 0 T)
      by (symmetry; apply (RInt_scal (V := R_CompleteNormedModule)); exact shifted).
    rewrite pull.
    apply RInt_le; [exact T0|apply weighed_integrable, cont| |].
    { apply (ex_RInt_scal (V := R_NormedModule)). exact shifted. }
    intros z inside. unfold scal. cbn. unfold mult. cbn. unfold weighed.
    replace (- (r1 * (z + s))) with (- (r1 * z) + - (r1 * s)) by lra. rewrite exp_plus, (exp_Ropp (r1 * s)).
    pose proof (exp_pos (- (r1 * z))).
    replace (c * exp (r1 * s) * (r1 * (exp (- (r1 * z)) * / exp (r1 * s)) * h' (z + s)))
      with (r1 * exp (- (r1 * z)) * (c * h' (z + s))) by (field; lra).
    apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. apply each. lra.
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|]. unfold upto.
    assert (parts : RInt (weighed h') 0 s + RInt (weighed h') s (T + s) = RInt (weighed h') 0 (T + s))
      by (apply (RInt_Chasles (V := R_CompleteNormedModule)); apply weighed_integrable, cont').
    assert (0 <= RInt (weighed h') 0 s).
    { apply RInt_ge_0; [exact s0|apply weighed_integrable, cont'|]. intros z _. apply weighed_nonneg, range'. }
    lra.
Qed.

Lemma passes_compare :
  forall g g' i z z', (forall j, (j < i)%nat -> z - g j <= z' - g' j) -> passes g i z <= passes g' i z'.
Proof.
  intros g g' i z z'. induction i as [|i IH]; intros closer; cbn [passes]; [lra|].
  apply Rmult_le_compat; [apply passes_range|apply below_range| |].
  - apply IH. intros j lt. apply closer. lia.
  - apply below_grows, closer. lia.
Qed.

Lemma first_compare :
  forall g g' i z z' s, 0 <= s -> (forall j, (j < i)%nat -> z - g j <= z' - g' j) -> z' - g' i = z - g i + s ->
    first g i z <= exp (r2 * s) * first g' i z'.
Proof.
  intros g g' i z z' s s0 closer here. unfold first. rewrite here.
  pose proof (passes_compare g g' i z z' closer). pose proof (reaches_falls (z - g i) s s0).
  pose proof (passes_range g i z). pose proof (below_range (z - g i)).
  assert (0 <= reaches (z - g i)) by (unfold reaches; lra).
  assert (passes g i z * reaches (z - g i) <= passes g' i z' * (exp (r2 * s) * reaches (z - g i + s)))
    by (apply Rmult_le_compat; lra).
  lra.
Qed.

Lemma first_is : forall g i, density_like (first g i).
Proof. intros g i. split; [apply first_range|apply first_continuous]. Qed.

Lemma none_is : forall g i, density_like (passes g i).
Proof. intros g i. split; [apply passes_range|apply passes_continuous]. Qed.

(* A record comes: q times less is wanted of all, and 1 more is there from some threshold on. *)
Definition comes (q : R) (g g' : nat -> R) : Prop :=
  exists has : nat -> bool,
    (forall i j, (i <= j)%nat -> has i = true -> has j = true) /\
    (forall j, g' j = g j - q + (if has j then 1 else 0)).

(* A record is replaced by a smaller one: one more is below some thresholds. *)
Definition moves_down (g g' : nat -> R) : Prop :=
  exists has : nat -> bool, forall j, g' j = g j + (if has j then 1 else 0).

Lemma p_nonneg : forall h p, density_like h -> chance h p -> 0 <= p.
Proof.
  intros h p like is. destruct (chance_exists h like) as [p' [is' range]].
  destruct is as [above least]. destruct is' as [above' least'].
  assert (p' <= p) by (apply least', above). lra.
Qed.

Lemma scaled_le : forall p p' a b, 0 <= p' -> a <= b -> p <= exp a * p' -> p <= exp b * p'.
Proof.
  intros p p' a b p0 le bound. apply Rle_trans with (1 := bound). apply Rmult_le_compat_r; [exact p0|apply exp_le, le].
Qed.

(* Under add_remove, for every threshold and for none; then for all events, as sums of these. *)
Theorem first_above_add_remove :
  forall q g g', 0 <= q <= 1 -> comes q g g' ->
    let epsilon := Rmax (r1 * (1 - q)) (r1 * q + r2) in
    (forall i p p', chance (first g i) p -> chance (first g' i) p' -> p <= exp epsilon * p' /\ p' <= exp epsilon * p) /\
    (forall n p p', chance (passes g n) p -> chance (passes g' n) p' -> p <= exp epsilon * p' /\ p' <= exp epsilon * p).
Proof.
  intros q g g' [q0 q1] [has [rising is_g']] epsilon.
  pose proof (Rmax_l (r1 * (1 - q)) (r1 * q + r2)) as big1. pose proof (Rmax_r (r1 * (1 - q)) (r1 * q + r2)) as big2.
  fold epsilon in big1, big2.
  assert (0 <= r1 * q) by (apply Rmult_le_pos; lra). assert (r2 * q <= r2 * 1) by (apply Rmult_le_compat_l; lra).
  split.
  - intros i p p' is is'.
    pose proof (p_nonneg _ _ (first_is g i) is) as p0. pose proof (p_nonneg _ _ (first_is g' i) is') as p0'. split.
    + destruct (has i) eqn:here.
      * apply scaled_le with (r1 * (1 - q)); [exact p0'|exact big1|].
        rewrite <- (Rmult_1_l (exp (r1 * (1 - q)))).
        apply (moved_up (first g i) (first g' i) 1 (1 - q)); try assumption; try apply first_is; try lra.
        intros z z0. replace 1 with (exp (r2 * 0)) at 1 by (rewrite Rmult_0_r; apply exp_0).
        apply first_compare; [lra| |].
        -- intros j lt. rewrite is_g'. destruct (has j); lra.
        -- rewrite is_g', here. lra.
      * apply scaled_le with (r2 * q); [exact p0'|lra|].
        replace (exp (r2 * q)) with (exp (r2 * q) * exp (r1 * 0)) by (rewrite Rmult_0_r, exp_0; lra).
        apply (moved_up (first g i) (first g' i) (exp (r2 * q)) 0); try assumption; try apply first_is; try lra.
        -- left. apply exp_pos.
        -- intros z z0. rewrite Rplus_0_r. apply first_compare; [exact q0| |].
           ++ intros j lt. rewrite is_g'. destruct (has j) eqn:there; [|lra].
              rewrite (rising j i ltac:(lia) there) in here. discriminate.
           ++ rewrite is_g', here. lra.
    + apply scaled_le with (r2 + r1 * q); [exact p0|lra|]. rewrite exp_plus.
      apply (moved_up (first g' i) (first g i) (exp r2) q); try assumption; try apply first_is.
      * left. apply exp_pos.
      * intros z z0.
        assert (one : first g' i z <= exp (r2 * (if has i then 1 else 0)) * first g i (z + q)).
        { apply first_compare.
          - destruct (has i); lra.
          - intros j lt. rewrite is_g'. destruct (has j); lra.
          - rewrite is_g'. destruct (has i); lra. }
        apply Rle_trans with (1 := one). apply Rmult_le_compat_r; [apply first_range|]. apply exp_le.
        destruct (has i); lra.
  - intros n p p' is is'.
    pose proof (p_nonneg _ _ (none_is g n) is) as p0. pose proof (p_nonneg _ _ (none_is g' n) is') as p0'. split.
    + apply scaled_le with (r1 * (1 - q)); [exact p0'|exact big1|].
      rewrite <- (Rmult_1_l (exp (r1 * (1 - q)))).
      apply (moved_up (passes g n) (passes g' n) 1 (1 - q)); try assumption; try apply none_is; try lra.
      intros z z0. rewrite Rmult_1_l. apply passes_compare. intros j lt. rewrite is_g'. destruct (has j); lra.
    + apply scaled_le with (r1 * q); [exact p0|lra|]. rewrite <- (Rmult_1_l (exp (r1 * q))).
      apply (moved_up (passes g' n) (passes g n) 1 q); try assumption; try apply none_is; try lra.
      intros z z0. rewrite Rmult_1_l. apply passes_compare. intros j lt. rewrite is_g'. destruct (has j); lra.
Qed.

Theorem first_above_replace_one :
  forall g g', moves_down g g' ->
    (forall i p p', chance (first g i) p -> chance (first g' i) p' ->
       p <= exp (r1 + r2) * p' /\ p' <= exp (r1 + r2) * p) /\
    (forall n p p', chance (passes g n) p -> chance (passes g' n) p' ->
       p <= exp (r1 + r2) * p' /\ p' <= exp (r1 + r2) * p).
Proof.
  intros g g' [has is_g']. split.
  - intros i p p' is is'.
    pose proof (p_nonneg _ _ (first_is g i) is) as p0. pose proof (p_nonneg _ _ (first_is g' i) is') as p0'. split.
    + replace (exp (r1 + r2)) with (exp r2 * exp (r1 * 1)) by (rewrite <- exp_plus; f_equal; lra).
      apply (moved_up (first g i) (first g' i) (exp r2) 1); try assumption; try apply first_is; try lra.
      * left. apply exp_pos.
      * intros z z0.
        assert (one : first g i z <= exp (r2 * (if has i then 0 else 1)) * first g' i (z + 1)).
        { apply first_compare.
          - destruct (has i); lra.
          - intros j lt. rewrite is_g'. destruct (has j); lra.
          - rewrite is_g'. destruct (has i); lra. }
        apply Rle_trans with (1 := one). apply Rmult_le_compat_r; [apply first_range|]. apply exp_le.
        destruct (has i); lra.
    + apply scaled_le with (r2 + r1 * 0); [exact p0|lra|]. rewrite exp_plus.
      apply (moved_up (first g' i) (first g i) (exp r2) 0); try assumption; try apply first_is; try lra.
      * left. apply exp_pos.
      * intros z z0. rewrite Rplus_0_r.
        assert (one : first g' i z <= exp (r2 * (if has i then 1 else 0)) * first g i z).
        { apply first_compare.
          - destruct (has i); lra.
          - intros j lt. rewrite is_g'. destruct (has j); lra.
          - rewrite is_g'. destruct (has i); lra. }
        apply Rle_trans with (1 := one). apply Rmult_le_compat_r; [apply first_range|]. apply exp_le.
        destruct (has i); lra.
  - intros n p p' is is'.
    pose proof (p_nonneg _ _ (none_is g n) is) as p0. pose proof (p_nonneg _ _ (none_is g' n) is') as p0'. split.
    + apply scaled_le with (r1 * 1); [exact p0'|lra|]. rewrite <- (Rmult_1_l (exp (r1 * 1))).
      apply (moved_up (passes g n) (passes g' n) 1 1); try assumption; try apply none_is; try lra.
      intros z z0. rewrite Rmult_1_l. apply passes_compare. intros j lt. rewrite is_g'. destruct (has j); lra.
    + apply scaled_le with (r1 * 0); [exact p0|lra|]. rewrite <- (Rmult_1_l (exp (r1 * 0))).
      apply (moved_up (passes g' n) (passes g n) 1 0); try assumption; try apply none_is; try lra.
      intros z z0. rewrite Rmult_1_l, Rplus_0_r. apply passes_compare. intros j lt. rewrite is_g'. destruct (has j); lra.
Qed.

End Mechanism.
