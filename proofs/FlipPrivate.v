(* Permute-and-flip is epsilon-DP, from its integral; and it is report noisy max with exponential noise. *)

From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Sums Range Flip.
Import ListNotations.
Open Scope R_scope.

Lemma none_else_nonneg :
  forall w l r t, 0 <= t -> (forall j, In j l -> w j * t <= 1) -> 0 <= none_else w l r t.
Proof.
  intros w l r t t0 small. induction l as [|j l IH]; cbn [none_else]; [lra|].
  pose proof (small j (or_introl eq_refl)).
  apply Rmult_le_pos; [destruct (Nat.eqb j r); lra|]. apply IH. intros k there. apply small. right. exact there.
Qed.

Lemma none_else_stretched :
  forall w w' l r c t,
    0 <= t -> (forall j, In j l -> w' j <= c * w j /\ c * w j * t <= 1) ->
    0 <= none_else w l r (c * t) <= none_else w' l r t.
Proof.
  intros w w' l r c t t0 each. induction l as [|j l IH]; cbn [none_else]; [lra|].
  destruct (each j (or_introl eq_refl)) as [above small].
  destruct IH as [low high]; [intros k there; apply each; right; exact there|].
  assert (step : w' j * t <= c * w j * t) by (apply Rmult_le_compat_r; assumption).
  assert (factor : 0 <= (if Nat.eqb j r then 1 else 1 - w j * (c * t)) <= (if Nat.eqb j r then 1 else 1 - w' j * t))
    by (destruct (Nat.eqb j r); lra).
  split; [apply Rmult_le_pos; lra|]. apply Rmult_le_compat; lra.
Qed.

(* Coins of which none is below b times what it was, and none above b c times: the answer r is at most c times rarer. *)
Lemma integral_falls_little :
  forall w w' l r b c,
    In r l -> 0 < b -> 0 < c -> 1 <= b * c ->
    (forall j, In j l -> 0 <= w j <= 1 /\ w' j <= 1 /\ b * w j <= w' j <= b * c * w j) ->
    closed_form w l r <= c * closed_form w' l r.
Proof.
  intros w w' l r b c in_r b0 c0 bc1 each. unfold closed_form. set (d := b * c) in *.
  assert (d0 : 0 < / d) by (apply Rinv_0_lt_compat; lra).
  assert (d1 : / d <= 1) by (apply Rmult_le_reg_l with d; [lra|]; rewrite Rinv_r by lra; lra).
  assert (stretched : RInt (none_else w l r) 0 1 = d * RInt (fun t => none_else w l r (d * t)) 0 (/ d)).
  { pose proof (RInt_comp_lin (V := R_CompleteNormedModule) (none_else w l r) d 0 0 (/ d)) as change.
    rewrite Rmult_0_r, !Rplus_0_r, Rinv_r in change by lra.
    rewrite <- change by apply none_else_integrable.
    rewrite <- (RInt_scal (V := R_CompleteNormedModule) (fun t => none_else w l r (d * t))).
    - apply RInt_ext. intros t _. rewrite Rplus_0_r. reflexivity.
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
      apply (continuous_comp (fun t => d * t) (none_else w l r)); [|apply none_else_continuous].
      apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id]. }
  assert (part : RInt (fun t => none_else w l r (d * t)) 0 (/ d) <= RInt (none_else w' l r) 0 (/ d)).
  { apply RInt_le; [lra| | |].
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
      apply (continuous_comp (fun t => d * t) (none_else w l r)); [|apply none_else_continuous].
      apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id].
    - apply none_else_integrable.
    - intros t [t0 t1]. apply none_else_stretched; [lra|]. intros j there.
      destruct (each j there) as [[w0 w1] [_ [_ above]]]. split; [exact above|].
      assert (dt : d * t <= 1) by (apply Rmult_le_reg_l with (/ d); [exact d0|];
        rewrite <- Rmult_assoc, Rinv_l by lra; lra).
      assert (w j * (d * t) <= 1 * 1).
      { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
      lra. }
  assert (rest : RInt (none_else w' l r) 0 (/ d) <= RInt (none_else w' l r) 0 1).
  { assert (whole : RInt (none_else w' l r) 0 (/ d) + RInt (none_else w' l r) (/ d) 1 = RInt (none_else w' l r) 0 1)
      by (apply (RInt_Chasles (V := R_CompleteNormedModule)); apply none_else_integrable).
    assert (0 <= RInt (none_else w' l r) (/ d) 1).
    { apply RInt_ge_0; [exact d1|apply none_else_integrable|]. intros t [t0 t1].
      apply none_else_nonneg; [lra|]. intros j there.
      destruct (each j there) as [[w0 w1] [w'1 [below _]]].
      assert (0 <= b * w j) by (apply Rmult_le_pos; lra).
      assert (w' j * t <= 1 * 1) by (apply Rmult_le_compat; lra). lra. }
    lra. }
  destruct (each r in_r) as [[w0 w1] [_ [below _]]].
  assert (positive : 0 <= RInt (fun t => none_else w l r (d * t)) 0 (/ d)).
  { apply RInt_ge_0; [lra| |].
    - apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
      apply (continuous_comp (fun t => d * t) (none_else w l r)); [|apply none_else_continuous].
      apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id].
    - intros t [t0 t1]. apply none_else_nonneg; [apply Rmult_le_pos; lra|]. intros j there.
      destruct (each j there) as [[v0 v1] _].
      assert (dt : d * t <= 1) by (apply Rmult_le_reg_l with (/ d); [exact d0|];
        rewrite <- Rmult_assoc, Rinv_l by lra; lra).
      assert (w j * (d * t) <= 1 * 1).
      { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
      lra. }
  rewrite stretched. set (I := RInt (fun t => none_else w l r (d * t)) 0 (/ d)) in *.
  set (J := RInt (none_else w' l r) 0 1) in *.
  assert (step : (b * w r) * I <= w' r * J).
  { apply Rmult_le_compat; try lra. apply Rmult_le_pos; lra. }
  assert (c * ((b * w r) * I) <= c * (w' r * J)) by (apply Rmult_le_compat_l; lra).
  unfold d. lra.
Qed.

Lemma least_change :
  forall n (d : nat -> R), (0 < n)%nat -> exists i, (i < n)%nat /\ forall j, (j < n)%nat -> d i <= d j.
Proof.
  induction n as [|n IH]; intros d some; [lia|].
  destruct n as [|n]; [exists 0%nat; split; [lia|]; intros j lt; replace j with 0%nat by lia; lra|].
  destruct (IH d ltac:(lia)) as [i [lt least]].
  destruct (Rle_lt_dec (d i) (d (S n))) as [stay|move].
  - exists i. split; [lia|]. intros j lt_j. destruct (Nat.eq_dec j (S n)); [subst; exact stay|apply least; lia].
  - exists (S n). split; [lia|]. intros j lt_j.
    destruct (Nat.eq_dec j (S n)); [subst; lra|]. pose proof (least j ltac:(lia)). lra.
Qed.

Lemma pf_falls_little :
  forall n eta D s s' r,
    0 <= eta -> 0 <= D -> spread n (fun _ => 1) D s s' -> (r < n)%nat ->
    pf n eta s r <= exp (eta * D) * pf n eta s' r.
Proof.
  intros n eta D s s' r eta0 D0 all lt. rewrite !pf_integral by exact lt.
  destruct (least_change n (fun i => s' i - s i) ltac:(lia)) as [m [lt_m least]].
  set (low := s' m - s m) in *.
  assert (above : forall j, (j < n)%nat -> low <= s' j - s j <= low + D).
  { intros j lt_j. pose proof (least j lt_j). pose proof (all j m lt_j lt_m ltac:(lra) ltac:(lra)).
    fold low in H0. lra. }
  destruct (best_is_reached n s' ltac:(lia)) as [k [lt_k here]].
  assert (up : best n s' <= best n s + low + D).
  { rewrite <- here. pose proof (above k lt_k). pose proof (best_is_most n s k lt_k). lra. }
  apply integral_falls_little with (b := exp (eta * (low - (best n s' - best n s)))).
  - apply in_seq. lia.
  - apply exp_pos.
  - apply exp_pos.
  - rewrite <- exp_plus, <- exp_0. apply exp_monotone.
    assert (0 <= eta * (low - (best n s' - best n s) + D)) by (apply Rmult_le_pos; lra). lra.
  - intros j there. apply in_seq in there.
    pose proof (coin_unit n eta s j eta0 ltac:(lia)) as unit.
    pose proof (coin_unit n eta s' j eta0 ltac:(lia)) as unit'.
    pose proof (above j ltac:(lia)) as change.
    split; [lra|split; [lra|]]. unfold coin_of, gap. rewrite <- !exp_plus.
    split; apply exp_monotone.
    + assert (0 <= eta * (s' j - s j - low)) by (apply Rmult_le_pos; lra). lra.
    + assert (0 <= eta * (low + D - (s' j - s j))) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma points_to_events :
  forall n e p q,
    (forall i, (i < n)%nat -> p i <= exp e * q i /\ q i <= exp e * p i) -> private n e p q.
Proof.
  intros n e p q each E. unfold prob. rewrite <- !sum_scal.
  split; apply sum_le; intros i lt; destruct (each i lt); destruct (E i); lra.
Qed.

Theorem pf_private :
  forall n eta D s s',
    0 <= eta -> 0 <= D -> spread n (fun _ => 1) D s s' -> private n (eta * D) (pf n eta s') (pf n eta s).
Proof.
  intros n eta D s s' eta0 D0 all. apply points_to_events. intros i lt. split.
  - apply pf_falls_little; try assumption. apply spread_symmetric. exact all.
  - apply pf_falls_little; assumption.
Qed.

(* ---- Report noisy max with exponential noise ---- *)

(* The probability that exponential noise of scale 1 is below x. *)
Definition below (x : R) : R := Rmax 0 (1 - exp (- x)).

(* The chance that the noisy scores of all but r are below that of r, if the noise of r is x. *)
Fixpoint others_below (l : list nat) (g : nat -> R) (r : nat) (x : R) : R :=
  match l with
  | [] => 1
  | j :: l' => (if Nat.eqb j r then 1 else below (x - g r + g j)) * others_below l' g r x
  end.

(* Noise of density exp (- x) for r, from 0 to T; for noisy scores eta s j + noise. *)
Definition noisy_max_up_to (n : nat) (eta : R) (s : nat -> R) (r : nat) (T : R) : R :=
  RInt (fun x => exp (- x) * others_below (seq 0 n) (fun j => - (eta * s j)) r x) 0 T.

Lemma others_below_shift :
  forall l g c r x, others_below l (fun j => g j + c) r x = others_below l g r x.
Proof.
  intros l g c r x. induction l as [|j l IH]; cbn [others_below]; [reflexivity|].
  rewrite IH. replace (x - (g r + c) + (g j + c)) with (x - g r + g j) by ring. reflexivity.
Qed.

Lemma others_below_zero :
  forall l g r x k, In k l -> k <> r -> x - g r + g k <= 0 -> others_below l g r x = 0.
Proof.
  intros l g r x k. induction l as [|j l IH]; intros there other early; [destruct there|].
  cbn [others_below]. destruct there as [here|there].
  - subst. destruct (Nat.eqb_spec k r); [contradiction|].
    unfold below. rewrite Rmax_left; [ring|].
    assert (1 <= exp (- (x - g r + g k))) by (apply exp_at_least_one; lra). lra.
  - rewrite IH by assumption. ring.
Qed.

Lemma others_below_late :
  forall l g r x, g r <= x -> (forall j, In j l -> 0 <= g j) ->
    others_below l g r x = none_else (fun j => exp (- g j)) l r (exp (g r - x)).
Proof.
  intros l g r x late nonneg. induction l as [|j l IH]; cbn [others_below none_else]; [reflexivity|].
  rewrite IH by (intros k there; apply nonneg; right; exact there).
  destruct (Nat.eqb j r); [reflexivity|]. f_equal. unfold below.
  rewrite <- exp_plus. replace (- g j + (g r - x)) with (- (x - g r + g j)) by ring.
  apply Rmax_right. pose proof (nonneg j (or_introl eq_refl)).
  assert (exp (- (x - g r + g j)) <= exp 0) by (apply exp_monotone; lra). rewrite exp_0 in *. lra.
Qed.

Definition area (w : nat -> R) (l : list nat) (r : nat) (t : R) : R := RInt (none_else w l r) 0 t.

Lemma area_derive : forall w l r t, is_derive (area w l r) t (none_else w l r t).
Proof.
  intros w l r t. apply (is_derive_RInt (V := R_NormedModule) (none_else w l r) (area w l r) 0).
  - exists (mkposreal 1 Rlt_0_1). intros y _.
    apply (RInt_correct (V := R_CompleteNormedModule)). apply none_else_integrable.
  - apply none_else_continuous.
Qed.

(* The integral from g r to T, by t = exp (g r - x). *)
Lemma late_integral :
  forall w l r g T,
    is_RInt (fun x => exp (- x) * none_else w l r (exp (g - x))) g T
      (exp (- g) * area w l r 1 - exp (- g) * area w l r (exp (g - T))).
Proof.
  intros w l r g T.
  assert (ends : minus (- (exp (- g) * area w l r (exp (g - T)))) (- (exp (- g) * area w l r (exp (g - g)))) =
                 exp (- g) * area w l r 1 - exp (- g) * area w l r (exp (g - T))).
  { change (- (exp (- g) * area w l r (exp (g - T))) - - (exp (- g) * area w l r (exp (g - g))) =
            exp (- g) * area w l r 1 - exp (- g) * area w l r (exp (g - T))).
    rewrite Rminus_eq_0, exp_0. ring. }
  rewrite <- ends.
  apply (is_RInt_derive (V := R_CompleteNormedModule) (fun x => - (exp (- g) * area w l r (exp (g - x))))).
  - intros x _.
    assert (inner : is_derive (fun y => exp (g - y)) x (- exp (g - x)))
      by (auto_derive; [exact I|unfold Rminus; ring]).
    pose proof (is_derive_comp (area w l r) (fun y => exp (g - y)) x _ _ (area_derive w l r (exp (g - x))) inner) as chain.
    apply (is_derive_scal _ x (- exp (- g))) in chain.
    apply (is_derive_ext (fun y => - exp (- g) * area w l r (exp (g - y)))).
    + intros y. cbn. ring.
    + replace (exp (- x) * none_else w l r (exp (g - x)))
        with (- exp (- g) * scal (- exp (g - x)) (none_else w l r (exp (g - x)))); [exact chain|].
      unfold scal. cbn. unfold mult. cbn. replace (exp (- x)) with (exp (- g) * exp (g - x)); [ring|].
      rewrite <- exp_plus. f_equal. ring.
  - intros x _. apply (continuous_mult (K := R_AbsRing)).
    + apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact I.
    + apply (continuous_comp (fun x => exp (g - x)) (none_else w l r)); [|apply none_else_continuous].
      apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact I.
Qed.

(* As T grows, the probability that r is the largest tends to what permute-and-flip answers r with. *)
Theorem noisy_max_is_flip :
  forall n eta s r,
    0 <= eta -> (r < n)%nat -> is_lim (noisy_max_up_to n eta s r) p_infty (pf n eta s r).
Proof.
  intros n eta s r eta0 lt. set (g := fun j => eta * gap n s j).
  assert (g0 : forall j, (j < n)%nat -> 0 <= g j).
  { intros j lt_j. unfold g, gap. apply Rmult_le_pos; [exact eta0|]. pose proof (best_is_most n s j lt_j). lra. }
  set (w := coin_of n eta s).
  assert (same_w : forall j, w j = exp (- g j)) by reflexivity.
  assert (value : forall T, g r <= T ->
            noisy_max_up_to n eta s r T =
            exp (- g r) * area w (seq 0 n) r 1 - exp (- g r) * area w (seq 0 n) r (exp (g r - T))).
  { intros T late. unfold noisy_max_up_to. apply (is_RInt_unique (V := R_CompleteNormedModule)).
    apply (is_RInt_ext (V := R_NormedModule) (fun x => exp (- x) * others_below (seq 0 n) g r x)).
    { intros x _. f_equal. rewrite <- (others_below_shift (seq 0 n) (fun j => - (eta * s j)) (eta * best n s)).
      assert (forall l, others_below l g r x = others_below l (fun j => - (eta * s j) + eta * best n s) r x) as same.
      { intros l. induction l as [|j l IH]; cbn [others_below]; [reflexivity|]. rewrite IH.
        unfold g, gap. replace (x - eta * (best n s - s r) + eta * (best n s - s j))
          with (x - (- (eta * s r) + eta * best n s) + (- (eta * s j) + eta * best n s)) by ring. reflexivity. }
      apply same. }
    set (v := exp (- g r) * area w (seq 0 n) r 1 - exp (- g r) * area w (seq 0 n) r (exp (g r - T))).
    replace v with (plus (scal (g r - 0) 0) v) by (unfold plus, scal; cbn; unfold mult; cbn; ring).
    apply (is_RInt_Chasles (V := R_NormedModule)) with (g r).
    - apply (is_RInt_ext (V := R_NormedModule) (fun _ => 0)); [|apply (is_RInt_const (V := R_NormedModule))].
      intros x [x0 x1]. pose proof (g0 r lt). rewrite Rmin_left in x0 by assumption. rewrite Rmax_right in x1 by assumption.
      destruct (best_is_reached n s ltac:(lia)) as [k [lt_k here]].
      assert (gk : g k = 0) by (unfold g, gap; rewrite here; ring).
      rewrite (others_below_zero (seq 0 n) g r x k); [symmetry; apply Rmult_0_r|apply in_seq; lia| |lra].
      intros same. subst. lra.
    - apply (is_RInt_ext (V := R_NormedModule) (fun x => exp (- x) * none_else w (seq 0 n) r (exp (g r - x)))); [|apply late_integral].
      intros x [x0 _]. rewrite Rmin_left in x0 by exact late. symmetry. f_equal.
      apply others_below_late; [lra|]. intros j there. apply g0. apply in_seq in there. lia. }
  rewrite pf_integral by exact lt. fold w. unfold closed_form. rewrite same_w.
  change (RInt (none_else w (seq 0 n) r) 0 1) with (area w (seq 0 n) r 1).
  apply (is_lim_ext_loc (fun T => exp (- g r) * area w (seq 0 n) r 1
           - exp (- g r) * area w (seq 0 n) r (exp (g r - T)))).
  { exists (g r). intros T late. symmetry. apply value. lra. }
  set (c := exp (- g r) * area w (seq 0 n) r 1).
  cut (is_lim (fun T => c - exp (- g r) * area w (seq 0 n) r (exp (g r - T))) p_infty (c - exp (- g r) * 0)).
  { intros limit. rewrite Rmult_0_r, Rminus_0_r in limit. exact limit. }
  apply is_lim_minus'; [apply is_lim_const|].
  apply (is_lim_scal_l (fun T => area w (seq 0 n) r (exp (g r - T))) (exp (- g r)) p_infty 0).
  (* exp (g r - T) tends to 0, and the integral from 0 to x is a continuous function of x *)
  assert (small : is_lim (fun T => exp (g r - T)) p_infty 0).
  { apply (is_lim_comp exp (fun T => g r - T) p_infty 0 m_infty); [apply is_lim_exp_m| |].
    - apply (is_lim_minus (fun _ => g r) (fun T => T) p_infty (Finite (g r)) p_infty m_infty);
        [apply is_lim_const|apply is_lim_id|reflexivity].
    - exists 0. intros y _. discriminate. }
  assert (zero : area w (seq 0 n) r 0 = 0) 
    by (unfold area; exact (RInt_point (V := R_CompleteNormedModule) 0 (none_else w (seq 0 n) r))).
  rewrite <- zero.
  apply (is_lim_comp_continuous (fun T => exp (g r - T)) (area w (seq 0 n) r) p_infty 0 small).
  apply (ex_derive_continuous (V := R_NormedModule)).
  exists (none_else w (seq 0 n) r 0). apply area_derive.
Qed.
